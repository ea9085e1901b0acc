package fovea;

import java.io.Closeable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Texts in the making. One thread at a time makes steps; any may cancel or close. It owns native memory: close it.
 *
 * <pre>
 * try (Generation text = model.generate("Once upon")) {
 *   for (Generation.Step step : text) System.out.print(step.part());
 * }
 * </pre>
 */
public final class Generation implements Closeable, Iterable<Generation.Step> {
  /** Why a text ended. */
  public enum End {
    /** It has not ended. */
    NOT_YET,
    /** A stop token, which is not part of the text. */
    STOP_TOKEN,
    /** A stop string, which is not part of the text. */
    STOP_STRING,
    /** It has the most tokens that were asked for. */
    MAX_TOKENS,
    /** The model reads no longer texts. */
    ROOM
  }

  private static final End[] ENDS = {End.NOT_YET, End.STOP_TOKEN, End.MAX_TOKENS, End.ROOM}; // by fovea_end

  /** One step: an entry for each text. */
  public static final class Step {
    public final int index;
    /** -1 for texts that ended in an earlier step. */
    public final int[] tokens;
    /** The part that the step adds to each text, in whole characters. */
    public final String[] parts;
    public final End[] ends;
    /** Null unless GenerateOptions.logprobs asks for them. */
    public final float[] logprobs;

    Step(int index, int[] tokens, float[] logprobs) {
      this.index = index;
      this.tokens = tokens;
      this.logprobs = logprobs;
      parts = new String[tokens.length];
      ends = new End[tokens.length];
    }

    /** The part that the step adds to the first text. */
    public String part() {
      return parts[0];
    }

    @Override
    public String toString() {
      return "fovea.Step " + index + ": " + Arrays.toString(parts);
    }
  }

  /** Receives what is added to a text. */
  public interface Listener {
    void part(int text, String part);
  }

  private static final class Text {
    final Handle stream; // null: the model has no tokenizer
    final StringBuilder text = new StringBuilder();
    final List<Integer> tokens = new ArrayList<>();
    End end = End.NOT_YET;

    Text(Handle stream) {
      this.stream = stream;
    }
  }

  private final Model model;
  private final Decoder decoder;
  private final Handle handle;
  private final List<Text> texts = new ArrayList<>();
  private final boolean logprobs;
  private boolean left = true;

  Generation(Model model, List<String> prompts, GenerateOptions given) {
    final GenerateOptions options = given.copy();
    this.model = model;
    logprobs = options.logprobs;
    if (!options.idle().isEmpty()) {
      model.warn("without a temperature above 0 the best token is taken; ignored: "
          + String.join(", ", options.idle()));
    }
    decoder = new Decoder(model, prompts, options); // closed with this
    handle = new Handle("this generation", decoder.generator) {
      @Override
      void free(long address) {
        Native.closeGenerator(address);
        for (Text text : texts) {
          if (text.stream != null) text.stream.close();
        }
        decoder.close();
      }
    };
    try {
      for (int i = 0; i < prompts.size(); ++i) texts.add(new Text(stream(i, options.stop)));
    } catch (RuntimeException | Error failure) {
      handle.close();
      throw failure;
    }
  }

  private Handle stream(int text, String[] stop) {
    if (!model.hasTokenizer()) return null;
    final int[] sizes = new int[stop.length];
    final java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
    for (int i = 0; i < stop.length; ++i) {
      final byte[] bytes = Native.bytes(stop[i], "stop[" + i + "]");
      sizes[i] = bytes.length;
      all.write(bytes, 0, bytes.length);
    }
    final int[] after = decoder.prompts == null ? null : decoder.prompts[text];
    final long address = model.enter(); // until the stream is freed
    boolean made = false;
    try {
      final long stream = Native.newText(address, model.tokenizer().vocabulary, after,
          stop.length == 0 ? null : all.toByteArray(), sizes);
      made = true;
      return new Handle("this text", stream) {
        @Override
        void free(long freed) {
          Native.closeText(freed);
          model.leave();
        }
      };
    } finally {
      if (!made) model.leave();
    }
  }

  /**
   * Makes a step for all texts; null when all have ended. If it is cancelled it throws a CancellationException and
   * changes nothing: the next call makes the step.
   */
  public Step next() {
    final long address = handle.own();
    try {
      if (!left) return null;
      Cancel.check((Cancel) null);
      final int count = texts.size();
      final int[] numbers = new int[2 + 2 * count];
      final float[] likely = logprobs ? new float[count] : null;
      decoder.decode.call(session -> {
        Native.step(address, numbers, likely);
        return null;
      });
      return read(numbers, likely);
    } finally {
      handle.disown();
    }
  }

  private synchronized Step read(int[] numbers, float[] likely) {
    final int count = texts.size();
    final Step step = new Step(numbers[1], Arrays.copyOfRange(numbers, 2, 2 + count), likely);
    left = false;
    for (int i = 0; i < count; ++i) {
      final Text text = texts.get(i);
      step.parts[i] = "";
      if (text.end != End.NOT_YET) {
        step.tokens[i] = -1;
      } else if (step.tokens[i] >= 0) {
        step.parts[i] = add(text, i, step.tokens[i], ENDS[numbers[2 + count + i]]);
      }
      text.text.append(step.parts[i]);
      step.ends[i] = text.end;
      left = left || text.end == End.NOT_YET && numbers[0] != 0;
    }
    return step;
  }

  private String add(Text text, int number, int token, End end) {
    final boolean stops = end == End.STOP_TOKEN;
    text.tokens.add(token);
    text.end = end;
    String part = "";
    if (text.stream != null) {
      final long address = text.stream.own();
      try {
        final byte[] shown = Native.addToken(address, stops ? -1 : token, end != End.NOT_YET);
        if (shown[0] != 0) text.end = End.STOP_STRING;
        part = new String(shown, 1, shown.length - 1, java.nio.charset.StandardCharsets.UTF_8);
      } finally {
        text.stream.disown();
      }
    }
    if (text.end == End.ROOM) {
      model.warn("text " + number + " ends for lack of room after " + text.tokens.size()
          + " tokens: with its prompt it "
          + "has all rows that its session has; maxTokens changes their number, up to what the model was trained for");
    }
    return part;
  }

  /** Cancels the step that a thread is making, or the next one. Any thread. */
  public void cancel() {
    decoder.decode.cancel();
  }

  /** The remaining steps. */
  @Override
  public Iterator<Step> iterator() {
    return new Iterator<Step>() {
      private Step made;

      @Override
      public boolean hasNext() {
        if (made == null) made = Generation.this.next();
        return made != null;
      }

      @Override
      public Step next() {
        if (!hasNext()) throw new NoSuchElementException();
        final Step found = made;
        made = null;
        return found;
      }
    };
  }

  /** Makes the remaining steps and passes what each adds to a text. An exception of the listener ends it. */
  public void forEachPart(Listener listener) {
    for (Step step : this) {
      for (int i = 0; i < step.parts.length; ++i) {
        if (!step.parts[i].isEmpty()) listener.part(i, step.parts[i]);
      }
    }
  }

  /** The parts that the remaining steps add to the first text. Closing the stream closes the generation. */
  public Stream<String> parts() {
    return StreamSupport.stream(Spliterators.spliteratorUnknownSize(iterator(), Spliterator.ORDERED), false)
        .map(Step::part).filter(part -> !part.isEmpty()).onClose(this::close);
  }

  /** Makes the remaining steps. Returns the texts. */
  public List<String> finish() {
    while (next() != null) continue;
    return texts();
  }

  /** Makes the remaining steps, closes the generation and returns the first text. */
  public String text() {
    try {
      return finish().get(0);
    } finally {
      close();
    }
  }

  /** The texts so far, also when closed. */
  public synchronized List<String> texts() {
    final List<String> found = new ArrayList<>();
    for (Text text : texts) found.add(text.text.toString());
    return found;
  }

  /** The tokens of a text so far. */
  public synchronized int[] tokens(int text) {
    final List<Integer> listed = texts.get(text).tokens;
    final int[] found = new int[listed.size()];
    for (int i = 0; i < found.length; ++i) found[i] = listed.get(i);
    return found;
  }

  /** Why each text has ended. */
  public synchronized List<End> ends() {
    final List<End> found = new ArrayList<>();
    for (Text text : texts) found.add(text.end);
    return found;
  }

  @Override
  public void close() {
    handle.close();
  }

  @Override
  public synchronized String toString() {
    int tokens = 0;
    int unfinished = 0;
    for (Text text : texts) {
      tokens += text.tokens.size();
      unfinished += text.end == End.NOT_YET ? 1 : 0;
    }
    return "fovea.Generation: " + texts.size() + " texts, " + unfinished + " unfinished, " + tokens + " tokens"
        + (handle.isClosed() ? ", closed" : "");
  }
}
