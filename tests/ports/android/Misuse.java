import fovea.AnswerOptions;
import fovea.AttentionMap;
import fovea.ClassifyOptions;
import fovea.EmbedOptions;
import fovea.Embeddings;
import fovea.Encoding;
import fovea.ExplainOptions;
import fovea.FoveaException;
import fovea.GenerateOptions;
import fovea.Generation;
import fovea.LookOptions;
import fovea.Looked;
import fovea.Model;
import fovea.ModelOptions;
import fovea.Prediction;
import fovea.Tap;
import fovea.TextPair;
import fovea.Tokenizer;
import fovea.Weight;
import fovea.WeightOptions;
import java.io.UncheckedIOException;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Results in each form, options, warnings, and calls that are wrong.   Misuse FOLDER */
public final class Misuse {
  private static final List<String> TEXTS = Arrays.asList("a text editor", "",
      "na\u00efve \ud83d\ude00 caf\u00e9 library",
      String.join(" ", Collections.nCopies(200, "very long text")));
  private static String folder;

  private static String path(String name) {
    return folder + "/" + name + ".fovea";
  }

  private static Model open(String name) {
    final Model model = Model.open(path(name));
    model.onWarning(text -> { });
    return model;
  }

  // ---- Opening ----

  private static void sources() throws Exception {
    final byte[] raw = Files.readAllBytes(Paths.get(path("package-section")));
    final String expected;
    try (Model model = open("package-section")) {
      expected = model.classify("a text editor").toString();
      Check.holds(!model.isCopy() && model.blobBytes() == raw.length, "a mapped file");
      Check.equal(model.toString(), "fovea.Model " + path("package-section")
          + ": sequence-classification, programs encode, "
          + raw.length + " bytes, xnnpack", "toString");
      Check.holds(model.describe().contains("output logits ["), model.describe());
    }
    final ByteBuffer direct = ByteBuffer.allocateDirect(raw.length + 200).order(ByteOrder.LITTLE_ENDIAN);
    for (int offset = 0; offset < 130; offset += 13) { // in place only where the bytes begin at a multiple of 64
      direct.clear();
      direct.position(offset);
      direct.put(raw);
      direct.flip();
      direct.position(offset);
      try (Model model = Model.open(direct.slice())) {
        Check.equal(model.classify("a text editor").toString(), expected, "a slice at " + offset);
      }
      try (Model model = Model.open(direct.asReadOnlyBuffer())) {
        Check.equal(model.classify("a text editor").toString(), expected, "a position of " + offset);
        Check.equal(direct.position(), offset, "the buffer's position");
      }
    }
    try (Model model = Model.open(ByteBuffer.wrap(raw).asReadOnlyBuffer()); Model array = Model.open(raw)) {
      Check.holds(model.isCopy() && model.toString().contains("(a copy in memory)"), model.toString());
      Check.equal(array.classify("a text editor").toString(), expected, "bytes");
    }
    Model mapped;
    try (FileChannel file = FileChannel.open(Paths.get(path("package-section")), StandardOpenOption.READ)) {
      mapped = Model.open(file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()));
    }
    for (int i = 0; i < 5; ++i) System.gc(); // the model keeps the buffer
    Check.holds(!mapped.isCopy(), "a mapped buffer in place");
    Check.equal(mapped.classify("a text editor").toString(), expected, "a mapped buffer");
    mapped.close();
    try (Model model = Model.open(path("package-section"), new ModelOptions().backend(ModelOptions.Backend.HIGHWAY)
        .skipChecksum(true))) {
      Check.holds(model.toString().endsWith("highway"), model.toString());
    }
  }

  /** An asset is a part of a package, at any place of it. */
  private static void assets() throws Exception {
    final byte[] raw = Files.readAllBytes(Paths.get(path("package-section")));
    final String expected;
    try (Model model = open("package-section")) {
      expected = model.classify("x").toString();
    }
    final Path apk = Paths.get(folder, "package.apk");
    for (int offset : new int[] {0, 4, 64, 100, 4096, 4160, 12345}) {
      final byte[] all = new byte[offset + raw.length + 7];
      Arrays.fill(all, (byte) 0x5a);
      System.arraycopy(raw, 0, all, offset, raw.length);
      Files.write(apk, all);
      final Descriptor file = new Descriptor(apk);
      try (Model model = fovea.android.Assets.open(file.assets(offset, raw.length), "model.fovea")) {
        Check.holds(file.closed, "the asset is closed");
        Check.equal(model.classify("x").toString(), expected, "an asset at " + offset);
        Check.equal(model.isCopy(), offset % 64 != 0, "copied at " + offset);
      }
      final Descriptor again = new Descriptor(apk);
      final int number = again.getFd();
      Check.refused(UncheckedIOException.class, "this part is not in the file",
          () -> Model.openDescriptor(number, offset, all.length - offset + 1));
      Check.refused(UncheckedIOException.class, "this part is not in the file", () -> Model.openDescriptor(number,
          -1, 5));
      Check.refused(UncheckedIOException.class, "this part is not in the file",
          () -> Model.openDescriptor(number, 4, Long.MAX_VALUE));
      Check.refused(FoveaException.class, "", () -> Model.openDescriptor(number, offset, raw.length - 1));
      Check.refused(FoveaException.class, "", () -> Model.openDescriptor(number, 0, 0));
      again.close();
    }
    Check.refused(UncheckedIOException.class, "Bad file descriptor", () -> Model.openDescriptor(-1, 0, 64));
  }

  private static void refusedSources() throws Exception {
    Check.refused(UncheckedIOException.class, "/nowhere/x.fovea: No such file", () -> Model.open("/nowhere/x.fovea"));
    Check.refused(UncheckedIOException.class, "not a file", () -> Model.open(folder));
    Check.refused(IllegalArgumentException.class, "zero character", () -> Model.open("a\0b"));
    Check.refused(NullPointerException.class, "path is null", () -> Model.open((String) null));
    Check.refused(FoveaException.class, "the blob: ", () -> Model.open(new byte[0]));
    Check.refused(FoveaException.class, "FOVEA_E_MAGIC", () -> Model.open(new byte[4096]));
    Check.refused(FoveaException.class, "the buffer: ", () -> Model.open(ByteBuffer.allocateDirect(0)));
    final byte[] raw = Files.readAllBytes(Paths.get(path("package-section")));
    raw[raw.length - 1] ^= 1;
    try {
      Model.open(raw);
      throw new AssertionError("a changed blob was opened");
    } catch (FoveaException error) {
      Check.equal(error.statusName(), "FOVEA_E_CHECKSUM", "its status");
      Check.equal(error.statusClass(), FoveaException.BLOB, "its class");
    }
  }

  // ---- Results that a model has not ----

  private static void answersAndWeights() {
    try (Model section = open("package-section"); Model question = open("question"); Model weights = open("weights")) {
      weights.onWarning(text -> { });
      Check.refused(FoveaException.class, "does not answer questions", () -> section.answer("a", "b"));
      Check.refused(FoveaException.class, "not a masked language model",
          () -> section.wordWeights(Arrays.asList("a"), new WeightOptions()));
      Check.refused(FoveaException.class, "use answer", () -> question.embed("a"));
      Check.refused(FoveaException.class, "shorten it",
          () -> question.answer("which one", "a b c d e", new AnswerOptions().maxLength(6).stride(3)));
      Check.refused(NullPointerException.class, "null", () -> question.answer(null, "b"));
      Check.refused(IllegalArgumentException.class, "top", () -> new AnswerOptions().top(0));
      Check.refused(IllegalArgumentException.class, "documents",
          () -> question.answer("a", "b", new AnswerOptions().wrapped(true)));
      Check.equal(question.answer("a", "").size(), 0, "answers in nothing");
      Check.equal(question.answer("", "", new AnswerOptions().allowNone(true)).get(0).text, "", "no answer");

      Check.refused(FoveaException.class, "its prompts are: document, query",
          () -> weights.embed("a", new EmbedOptions().prompt("other")));
      final float[] row = weights.embed("a text");
      int some = 0;
      for (float weight : row) some += weight == 0 ? 0 : 1;
      final List<Weight> listed =
          weights.wordWeights(Arrays.asList("a text"), new WeightOptions().prompt("query")).get(0);
      Check.equal(listed.size(), some, "weights");
      for (Weight one : listed) Check.equal(one.weight, row[one.id], one.token);
      Check.equal(weights.embed("find: a text", new EmbedOptions().prompt("")), row, "the default prompt");
    }
  }

  // ---- Results in each form ----

  private static void embeddings() {
    try (Model model = open("package-section-encoder")) {
      final List<String> many = new ArrayList<>();
      for (int i = 0; i < 150; ++i) many.add(TEXTS.get(i % 3) + " " + i);
      final float[][] rows = model.embed(many);
      final int width = rows[0].length;
      for (EmbedOptions options : Arrays.asList(new EmbedOptions().batchSize(1),
          new EmbedOptions().batchSize(7).workers(2),
          new EmbedOptions().batchSize(1000))) {
        Check.equal(model.embed(many, options), rows, "rows with " + options);
      }
      Check.equal(model.embed(many.get(3)), rows[3], "one text");
      final Embeddings flat = model.embedFlat(many, new EmbedOptions().batchSize(3));
      Check.equal(flat.toString(), "fovea.Embeddings: 150 texts, " + width + " numbers each", "toString");
      for (int i = 0; i < rows.length; ++i) Check.equal(flat.row(i), rows[i], "flat row " + i);
      Check.equal(model.embedFlat(() -> many.iterator(), new EmbedOptions()).data, flat.data, "of unknown number");
      int at = 0;
      for (Iterator<float[]> i = model.embedIterator(many, new EmbedOptions().batchSize(2)); i.hasNext(); ++at) {
        Check.equal(i.next(), rows[at], "iterated row " + at);
      }
      Check.equal(at, 150, "iterated rows");
      final int[] asked = {0};
      final Iterator<float[]> window = model.embedIterator(() -> new Iterator<String>() {
        @Override
        public boolean hasNext() {
          return true;
        }

        @Override
        public String next() {
          return many.get(asked[0]++ % 150);
        }
      }, new EmbedOptions().batchSize(2));
      Check.equal(window.next(), rows[0], "the first of texts without end");
      Check.equal(asked[0], 32, "texts that are read ahead");
      final FloatBuffer to = ByteBuffer.allocateDirect(4 * (150 * width + 5)).order(ByteOrder.nativeOrder())
          .asFloatBuffer();
      to.position(3);
      Check.equal(model.embedInto(many, to, new EmbedOptions().batchSize(3)), 150, "written rows");
      Check.equal(to.position(), 3 + 150 * width, "the buffer's position");
      for (int i = 0; i < 150 * width; ++i) Check.holds(to.get(3 + i) == flat.data[i], "written number " + i);
      to.position(0);
      model.embedInto(many.subList(0, 2), to.slice(), new EmbedOptions().normalise(true));
      final float[] unit = model.embed(many.get(1), new EmbedOptions().normalise(true));
      for (int i = 0; i < width; ++i) Check.holds(to.get(width + i) == unit[i], "a normalised number");
      final ByteBuffer bytes = ByteBuffer.allocateDirect(8 * width + 1);
      bytes.position(1);
      final FloatBuffer odd = bytes.slice().order(ByteOrder.nativeOrder()).asFloatBuffer(); // at no multiple of 4
      model.embedInto(many.subList(0, 2), odd, new EmbedOptions());
      for (int i = 0; i < 2 * width; ++i) Check.holds(odd.get(i) == flat.data[i], "unaligned number " + i);
      to.position(5 + width);
      Check.refused(BufferOverflowException.class, "", () -> model.embedInto(many, to, new EmbedOptions()));
      Check.refused(IllegalArgumentException.class, "a direct buffer",
          () -> model.embedInto(many, FloatBuffer.allocate(9), new EmbedOptions()));
      Check.refused(IllegalArgumentException.class, "a direct buffer",
          () -> model.embedInto(many, to.asReadOnlyBuffer(), new EmbedOptions()));
      Check.equal(model.embed(Collections.<String>emptyList()).length, 0, "no texts");
      Check.equal(model.embedFlat(Collections.<String>emptyList(), new EmbedOptions()).rows, 0, "no texts");
      final List<Long> told = new ArrayList<>();
      model.embed(many, new EmbedOptions().batchSize(50).progress((done, total) -> {
        told.add(done);
        Check.equal(total, 150L, "the number of texts");
      }));
      Check.equal(told, Arrays.asList(50L, 100L, 150L), "progress");
      similar(model, rows);
    }
  }

  private static void similar(Model model, float[][] rows) {
    double dot = 0;
    double first = 0;
    double second = 0;
    double squares = 0;
    for (int i = 0; i < rows[0].length; ++i) {
      dot += (double) rows[0][i] * rows[1][i];
      first += (double) rows[0][i] * rows[0][i];
      second += (double) rows[1][i] * rows[1][i];
      squares += Math.pow((double) rows[0][i] - rows[1][i], 2);
    }
    final double[][] cosine = model.similarity(new float[][] {rows[0], rows[1]}, new float[][] {rows[1]}, null);
    Check.holds(Math.abs(cosine[0][0] - dot / Math.sqrt(first * second)) < 1e-12, "the cosine");
    Check.holds(Math.abs(cosine[1][0] - 1) < 1e-12, "the cosine of a text and itself");
    final double[][] far = model.similarity(rows, rows, EmbedOptions.Measure.EUCLIDEAN);
    Check.holds(Math.abs(far[0][1] + Math.sqrt(squares)) < 1e-12 && far[3][3] == 0, "the distance");
    Check.equal(model.similarity("a text editor 0", " 1"), cosine[0][0], "of two texts");
    Check.refused(IllegalArgumentException.class, "measure is for similarity",
        () -> model.embed("x", new EmbedOptions().measure(EmbedOptions.Measure.DOT)));
    Check.refused(IllegalArgumentException.class, "embeddings of 3 and",
        () -> model.similarity(new float[1][3], rows, null));
  }

  private static void classes() {
    try (Model model = open("package-section")) {
      final List<List<Prediction>> all = model.classify(TEXTS);
      Check.equal(model.classify(TEXTS, new ClassifyOptions().batchSize(1)).toString(), all.toString(), "one by one");
      Check.equal(model.classify(TEXTS.get(0), new ClassifyOptions().top(2)).size(), 2, "top");
      double sum = 0;
      for (Prediction one : all.get(0)) sum += one.probability;
      Check.holds(Math.abs(sum - 1) < 1e-6, "probabilities"); // each is an f32
      final TextPair pair = new TextPair("a text editor", "for programmers");
      Check.equal(model.classifyPairs(Collections.singletonList(pair), new ClassifyOptions()).get(0).toString(),
          model.classify(pair, new ClassifyOptions()).toString(), "pairs");
      final Looked looked = model.look(TEXTS.subList(0, 2));
      final AttentionMap map = looked.maps.get(0);
      for (float[] row : map.segment(0, 0)) {
        float all1 = 0;
        for (float weight : row) all1 += weight;
        Check.holds(Math.abs(all1 - 1) < 1e-5, "weights sum up to 1");
      }
      final LookOptions last = new LookOptions().taps(new Tap(map.operation).lastRow().heads(1));
      Check.equal(model.look(TEXTS.subList(0, 1), last).maps.get(0).segment(0, 0)[0],
          map.segment(0, 1)[map.segment(0, 1).length - 1], "the last row of a head");
      Check.refused(IndexOutOfBoundsException.class, "segment 2 of 2", () -> map.segment(2, 0));
      Check.refused(FoveaException.class, "there is no head 99",
          () -> model.look(TEXTS, new LookOptions().taps(new Tap(map.operation).heads(99))));
      Check.refused(FoveaException.class, "has no attention 'x'; it has: " + map.operation,
          () -> model.look(TEXTS, new LookOptions().taps(new Tap("x"))));
    }
  }

  private static void tokens() {
    try (Model model = open("package-section")) {
      final Tokenizer tokenizer = model.tokenizer();
      final String text = "na\u00efve \ud83d\ude00 text";
      final Encoding encoding = tokenizer.encode(text);
      final StringBuilder joined = new StringBuilder();
      int end = 0;
      for (int i = 0; i < encoding.size(); ++i) {
        final int[] span = encoding.span(i);
        if (encoding.isSpecial(i)) continue;
        Check.holds(span[0] >= end || span[1] == end, "spans ascend");
        if (span[0] >= end) joined.append(text, span[0], span[1]);
        end = span[1];
      }
      Check.equal(joined.toString().replace(" ", ""), text.replace(" ", ""), "spans");
      final Encoding pair = tokenizer.encode(new TextPair("ab \ud83d\ude00 c", "caf\u00e9 text"));
      final int[] last = pair.span(pair.isSpecial(pair.size() - 1) ? pair.size() - 2 : pair.size() - 1);
      Check.equal("caf\u00e9 text".substring(last[0], last[1]).trim(), "text", "the span of a second text");
      Check.equal(tokenizer.decode(tokenizer.encode("a text editor").ids()), "a text editor", "decoded");
      Check.equal(tokenizer.find(tokenizer.piece(100)), 100, "a piece");
      Check.refused(FoveaException.class, "FOVEA_E_ID", () -> tokenizer.decode(1 << 30));
      Check.refused(FoveaException.class, "FOVEA_E_ID", () -> tokenizer.piece(-1));
      Check.refused(FoveaException.class, "'no such piece'", () -> tokenizer.find("no such piece"));
      Check.refused(FoveaException.class, "the char at 2 is half of a surrogate pair", () ->
          tokenizer.encode("ab\ud83dc"));
      Check.refused(FoveaException.class, "texts[1]: the char at 0", () ->
          model.classify(Arrays.asList("x", "\udc00")));
      Check.refused(NullPointerException.class, "texts[1] is null", () -> model.classify(Arrays.asList("x", null)));
      Check.refused(NullPointerException.class, "texts is null", () -> model.classify((List<String>) null));
    }
  }

  private static void texts() {
    try (Model writer = open("package-writer"); Model dates = open("date-normaliser");
        Model model = open("package-section")) {
      final String prompt = "libs / libpng-tools\n";
      final GenerateOptions options = new GenerateOptions().maxTokens(24);
      final String text = writer.generate(prompt, options).text();
      final StringBuilder joined = new StringBuilder();
      try (Generation made = writer.generate(Arrays.asList("x", prompt), options)) {
        made.forEachPart((number, part) -> joined.append(number == 1 ? part : ""));
        Check.equal(joined.toString(), text, "beside another text");
        Check.equal(made.texts().get(1), text, "its texts");
        Check.equal(writer.tokenizer().decode(made.tokens(1)).trim(), text.trim(), "its tokens");
        Check.equal(made.next(), null, "it has ended");
        Check.holds(made.toString().startsWith("fovea.Generation: 2 texts, 0 unfinished, "), made.toString());
      }
      try (Generation made = writer.generate(prompt, options.logprobs(true))) {
        final Generation.Step step = made.next();
        Check.holds(step.logprobs[0] <= 0 && step.part().length() > 0 && step.tokens.length == 1, "a step");
      }
      final List<String> warned = new ArrayList<>();
      writer.onWarning(warned::add);
      try (Generation made = writer.generate(prompt, new GenerateOptions().maxTokens(2).topK(3).seed(7))) {
        Check.holds(warned.size() == 1 && warned.get(0).endsWith("best token is taken; ignored: topK, seed"),
            warned.toString());
        made.finish();
        Check.equal(made.ends().get(0), Generation.End.MAX_TOKENS, "why it ended");
      }
      try (Generation made = writer.generate(prompt, new GenerateOptions().maxTokens(24).stop("is a lib"))) {
        Check.holds(!made.finish().get(0).contains("is a lib"), "the stop string is shown");
        Check.equal(made.ends().get(0), Generation.End.STOP_STRING, "why it ended");
      }
      try (Generation made = dates.generate("1/2/2003")) {
        Check.equal(made.finish().get(0), "2003-01-02", "a date");
        Check.equal(made.ends().get(0), Generation.End.STOP_TOKEN, "why it ended");
      }
      Check.refused(FoveaException.class, "the model generates no text", () -> model.generate("x"));
      Check.refused(NoSuchElementException.class, "a text is needed",
          () -> writer.generate(Collections.<String>emptyList(), options));
      Check.refused(FoveaException.class, "give a shorter one",
          () -> writer.generate(String.join(" ", Collections.nCopies(5000, "word"))));
      Check.refused(FoveaException.class, "FOVEA_E_ID", () -> writer.generate("x",
          new GenerateOptions().stopIds(1 << 30)));
    }
  }

  // ---- Options and warnings ----

  private static void options() {
    Check.refused(IllegalArgumentException.class, "workers is 0: 1 to 64", () -> new ClassifyOptions().workers(0));
    Check.refused(IllegalArgumentException.class, "workers is 65", () -> new GenerateOptions().workers(65));
    Check.refused(IllegalArgumentException.class, "batchSize is -1", () -> new EmbedOptions().batchSize(-1));
    Check.refused(IllegalArgumentException.class, "top is 0: at least 1", () -> new ExplainOptions().top(0));
    Check.refused(IllegalArgumentException.class, "temperature is NaN", () ->
        new GenerateOptions().temperature(Double.NaN));
    Check.refused(IllegalArgumentException.class, "topP is 1.5: a number from 0 to 1", () ->
        new GenerateOptions().topP(1.5));
    Check.refused(IllegalArgumentException.class, "maxTokens is 0", () -> new GenerateOptions().maxTokens(0));
    Check.refused(IllegalArgumentException.class, "a stop string is empty", () -> new GenerateOptions().stop("a", ""));
    Check.equal(new ClassifyOptions().workers(2).top(3).toString(), "fovea.ClassifyOptions: workers 2, top 3",
        "toString");
    Check.equal(new EmbedOptions().toString(), "fovea.EmbedOptions: defaults", "toString");
    try (Model model = open("package-section"); Model encoder = open("package-section-encoder")) {
      Check.refused(FoveaException.class, "no program 'x'; it has: encode",
          () -> model.classify("x", new ClassifyOptions().program("x")));
      Check.refused(FoveaException.class, "no prompt 'query'; its prompts are: none",
          () -> encoder.embed("x", new EmbedOptions().prompt("query")));
      Check.refused(FoveaException.class, "'x' is not an output", () -> encoder.embed("x",
          new EmbedOptions().output("x")));
      Check.refused(FoveaException.class, "has no output 'logits'", () -> encoder.classify("x"));
      Check.refused(FoveaException.class, "names no attention that explains", () -> model.explain("x"));
      final List<String> warned = new ArrayList<>();
      model.onWarning(warned::add);
      model.classify(TEXTS, new ClassifyOptions().maxLength(5));
      Check.holds(warned.size() == 1 && warned.get(0).contains("texts[2] is longer than the model reads")
          && warned.get(0).contains("1 more of 4 texts"), "warnings: " + warned);
      final Prediction read = model.classify("a [SEP] b").get(0);
      final Prediction text = model.classify("a [SEP] b", new ClassifyOptions().literal(true)).get(0);
      Check.holds(read.logit != text.logit, "literal has no effect");
      Check.holds(warned.size() == 2 && warned.get(1).contains("a text spells special tokens"), warned.toString());
      model.classify(Arrays.asList("a [SEP] b", "[CLS]", "a [MASK] b"));
      Check.holds(warned.size() == 3 && warned.get(2).contains("so do 1 more of 3 texts"), warned.toString());
      Check.holds(model.tokenizer().encode("a [SEP] b").size() == 5, "a special token");
      warned.clear();
      Check.holds(model.tokenizer().encodeLiteral("a [SEP] b").size() > 5, "a text");
      model.embed("x");
      model.embed("x");
      Check.holds(warned.size() == 1 && warned.get(0).contains("no embedding, but scores of classes"),
          warned.toString());
      Check.refused(NullPointerException.class, "receiver is null", () -> model.onWarning(null));
    }
    try (Model writer = open("package-writer"); Model means = open("package-writer-encoder")) {
      Check.refused(FoveaException.class, "it generates text", () -> writer.embed("x"));
      final List<String> warned = new ArrayList<>();
      means.onWarning(warned::add);
      final float[] mean = means.embed("x y z");
      Check.holds(warned.size() == 1 && warned.get(0).contains("the mean of the rows of"), warned.toString());
      Check.equal(means.embed("x y z", new EmbedOptions().output("last_hidden_state")), mean, "a mean");
    }
  }

  // ---- Closed objects, memory ----

  private static void closed() {
    final Model model = open("package-section");
    final Tokenizer tokenizer = model.tokenizer();
    final Iterator<float[]> rows = model.embedIterator(TEXTS, new EmbedOptions().batchSize(1));
    model.close();
    model.close();
    final List<Check.Call> calls = Arrays.asList(() -> model.classify("x"), () -> model.embed("x"), () ->
        model.explain("x"),
        () -> model.look(TEXTS), () -> model.generate("x"), () -> model.tokenizer(), () -> tokenizer.encode("x"),
        () -> tokenizer.decode(1), () -> tokenizer.piece(1), () -> tokenizer.find("x"), rows::next,
        () -> model.similarity("x", "y"));
    for (Check.Call call : calls) {
      Check.refused(IllegalStateException.class, "model " + path("package-section") + " is closed", call);
    }
    model.trim();
    Check.holds(model.isClosed() && model.toString().endsWith(", closed"), model.toString());
    Check.holds(model.label(0).length() > 0 && model.metadata("task") != null, "what it consisted of");
  }

  private static long resident() throws Exception {
    for (int i = 0; i < 3; ++i) System.gc();
    final List<String> lines = Files.readAllLines(Paths.get("/proc/self/status"));
    for (String line : lines) {
      if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
    throw new AssertionError("no VmRSS");
  }

  /** Open files, except in /proc and /sys, where the Java machine reads limits at any time. */
  private static int files() throws Exception {
    int open = 0;
    for (final java.io.File entry : new java.io.File("/proc/self/fd").listFiles()) {
      try {
        final String target = java.nio.file.Files.readSymbolicLink(entry.toPath()).toString();
        if (!target.startsWith("/proc/") && !target.startsWith("/sys/")) ++open;
      } catch (java.nio.file.NoSuchFileException closed) {
        continue;
      }
    }
    return open;
  }

  /** A thousand of each do not add up. */
  private static void thousand() throws Exception {
    final byte[] damaged = new byte[1 << 16];
    long after = 0;
    int open = 0;
    for (int i = 0; i < 1100; ++i) {
      if (i == 100) {
        after = resident();
        open = files();
      }
      try (Model model = open("package-section"); Model dates = open("date-normaliser")) {
        model.classify("a text editor", new ClassifyOptions().workers(1 + i % 2));
        dates.generate("1/2/2003").text();
        dates.generate("1/2/2003").close();
        final Generation started = dates.generate("1/2/2003");
        started.next();
        started.close();
        if (i % 10 == 0) model.look(TEXTS);
      }
      try {
        Model.open(damaged);
      } catch (FoveaException error) {
        continue;
      }
      throw new AssertionError("a damaged blob was opened");
    }
    final long grown = resident() - after;
    System.out.println("1,000 times: " + grown + " KiB more, " + (files() - open) + " more open files");
    Check.holds(grown < 32 << 10, "memory grows: " + grown + " KiB");
    Check.equal(files(), open, "open files");
  }

  /** The heap is too small for what is asked: an OutOfMemoryError, and all other calls work. */
  private static void memory() throws Exception {
    try (Model model = open("package-section-encoder")) {
      final float[] expected = model.embed("x");
      final long before = resident();
      for (int i = 0; i < 3; ++i) {
        Check.refused(OutOfMemoryError.class, "", () -> model.embedFlat(Collections.nCopies(200_000_000, "x"),
            new EmbedOptions()));
      }
      final List<String> one = Collections.singletonList(String.join(" ", Collections.nCopies(300, "word")));
      final List<Object> kept = new ArrayList<>();
      boolean full = false;
      try { // fill the heap with results, so that arrays of the native half fail at some place
        while (true) {
          kept.add(model.look(one));
          kept.add(new byte[1 << 18]);
        }
      } catch (OutOfMemoryError error) {
        full = true;
      }
      kept.clear();
      Check.holds(full, "the heap was not filled");
      Check.equal(model.embed("x"), expected, "after an OutOfMemoryError");
      final long grown = resident() - before;
      Check.holds(grown < 300 << 10, "memory grows: " + grown + " KiB"); // at most the heap itself
    }
  }

  public static void main(String[] arguments) throws Exception {
    folder = arguments[0];
    Check.holds(Model.version().matches("[0-9.]+") && !Model.simdTarget().isEmpty(), Model.version());
    sources();
    assets();
    refusedSources();
    answersAndWeights();
    embeddings();
    classes();
    tokens();
    texts();
    options();
    closed();
    memory();
    thousand();
    System.out.println("misuse: refused as expected");
  }
}
