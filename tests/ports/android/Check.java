import static java.nio.charset.StandardCharsets.UTF_8;

import fovea.FoveaException;
import fovea.Model;
import fovea.Prediction;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Writes what the command writes of the same texts (classes of the first blob, a text of the second), or fails. */
public final class Check {
  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  private static void refused(String words, Class<?> kind, Runnable call) {
    try {
      call.run();
    } catch (RuntimeException e) {
      check(kind.isInstance(e) && e.getMessage().contains(words), "refused otherwise: " + e);
      return;
    }
    throw new AssertionError("not refused: " + words);
  }

  private static Model openMapped(String path) throws Exception {
    try (FileChannel file = FileChannel.open(Paths.get(path), StandardOpenOption.READ)) {
      return Model.of(file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()), 1);
    }
  }

  private static void showClasses(String path, String text) throws Exception {
    List<Prediction> expected;
    try (Model model = Model.open(path, 2)) {
      expected = model.classify(text);
      System.out.println(text);
      for (Prediction p : expected.subList(0, 3)) {
        System.out.println(String.format(Locale.ROOT, "  %-7.4f %s", p.probability, p.label));
      }
      String accents = "na\u00efve \ud83d\ude00 text";
      model.classify(accents + accents + accents + accents + text);  // a larger session, then a smaller one
      check(model.classify(text).toString().equals(expected.toString()), "classes again");
      int[] ids = model.encode(text);
      check(model.decode(ids).equals(text), "decoded: " + model.decode(ids));
      check(model.metadata("label.0") != null && model.metadata("none") == null, "metadata");
      ids[0] = 1 << 30;
      refused("tokens: ", FoveaException.class, () -> model.decode(ids));
      refused("decoder", FoveaException.class, () -> model.generate(text, 4, 0, 0));
      model.close();
      refused("this model is closed", IllegalStateException.class, () -> model.classify(text));
    }
    byte[] raw = Files.readAllBytes(Paths.get(path));
    ByteBuffer crooked = ByteBuffer.allocateDirect(raw.length + 1);
    crooked.position(1);
    crooked.put(raw);
    crooked.position(1);
    try (FileChannel file = FileChannel.open(Paths.get(path), StandardOpenOption.READ)) {
      ByteBuffer mapped = file.map(FileChannel.MapMode.READ_ONLY, 0, raw.length);
      for (ByteBuffer blob : Arrays.asList(mapped, ByteBuffer.wrap(raw), crooked.slice())) {
        try (Model model = Model.of(blob, 1)) {
          check(model.classify(text).toString().equals(expected.toString()), "classes from a buffer");
        }
      }
    }
    try (Model model = openMapped(path)) {  // the only owner of the buffer
      System.gc();
      ByteBuffer.allocateDirect(raw.length);
      System.gc();
      Thread.sleep(200);
      check(model.classify(text).toString().equals(expected.toString()), "classes of a buffer that only the model has");
    }
    raw[raw.length / 2] ^= 1;
    refused("FOVEA_E_CHECKSUM", FoveaException.class, () -> Model.of(ByteBuffer.wrap(raw), 1));
    refused("FOVEA_E_", FoveaException.class, () -> Model.of(ByteBuffer.allocate(0), 1));
    refused("/none.fovea: ", FoveaException.class, () -> Model.open("/none.fovea", 1));
    String smiles = String.join("", Collections.nCopies(100, "\ud83d\ude00"));
    refused("/none-\ud83d\ude00", FoveaException.class, () -> Model.open("/none-" + smiles, 1));
    refused("threads", FoveaException.class, () -> Model.open(path, 1000));
  }

  private static String write(Model model, String prompt, float temperature, long seed) {
    StringBuilder text = new StringBuilder();
    try (Model.Generation generation = model.generate(prompt, 16, temperature, seed)) {
      for (String part = generation.next(); part != null; part = generation.next()) text.append(part);
      check(generation.next() == null, "after the end");
      generation.close();
      refused("this generation is closed", IllegalStateException.class, generation::next);
    }
    return text.toString();
  }

  private static void showText(String path, String prompt) {
    try (Model model = Model.open(path, 2)) {
      byte[] text = write(model, prompt, 0, 0).getBytes(UTF_8);
      System.out.write(text, 0, text.length);
      System.out.println();
      check(write(model, prompt, 1, 5).equals(write(model, prompt, 1, 5)), "one seed, one text");
      check(!write(model, prompt, 1, 5).equals(write(model, prompt, 1, 6)), "another seed");
      refused("at least one token", FoveaException.class, () -> model.generate(prompt, 0, 0, 0));
      refused("generate: ", FoveaException.class, () -> model.generate(prompt, 4, -1, 0));
      Model.Generation left = model.generate(prompt, 4, 0, 0);
      left.next();
      model.close();
      refused("this model is closed", IllegalStateException.class, left::next);
      left.close();
    }
  }

  public static void main(String[] arguments) throws Exception {
    showClasses(arguments[0], arguments[1]);
    showText(arguments[2], arguments[3]);
  }
}
