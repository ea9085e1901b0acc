package fovea;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.Consumer;
import java.util.logging.Logger;

/**
 * A model of a blob, which `fovea convert` makes. Any number of threads may use it at the same time. It owns native
 * memory, so close it: calls that are running then still end well, later ones throw an IllegalStateException.
 *
 * <pre>
 * try (Model model = Model.open("model.fovea")) {
 *   System.out.println(model.classify("a text editor"));
 * }
 * </pre>
 */
public final class Model implements Closeable {
  private static final Logger LOGGER = Logger.getLogger("fovea");

  private final String name;
  private final Handle handle;
  private final long[] info;
  private final String backend;
  private final Map<String, String> metadata;
  private final List<Program.Space> spaces;
  private final List<Program> programs;
  private final Tokenizer tokenizer;
  private final Set<String> announced = new HashSet<>();
  private volatile Consumer<String> warnings = text -> LOGGER.warning(text);
  final Idle idle = new Idle(this);

  // ---- Opening ----

  /** Maps a file. It must not be changed or shortened while the model is open. */
  public static Model open(String path) {
    return open(path, new ModelOptions());
  }

  public static Model open(String path, ModelOptions options) {
    Native.load();
    if (path == null) throw new NullPointerException("path is null");
    final byte[] bytes = Native.bytes(path, "path");
    for (byte one : bytes) {
      if (one == 0) throw new IllegalArgumentException("the path has a zero character");
    }
    try {
      return new Model(path, Native.openFile(Arrays.copyOf(bytes, bytes.length + 1), options.backend.ordinal(),
          options.skipChecksum));
    } catch (IOException failure) {
      throw new UncheckedIOException(path + ": " + failure.getMessage(), failure);
    } catch (FoveaException error) {
      throw error.about(path);
    }
  }

  public static Model open(File file) {
    return open(file.getPath());
  }

  public static Model open(File file, ModelOptions options) {
    return open(file.getPath(), options);
  }

  /** Copies the bytes. */
  public static Model open(byte[] blob) {
    return open(blob, new ModelOptions());
  }

  public static Model open(byte[] blob, ModelOptions options) {
    Native.load();
    return opened("the blob", () -> Native.openBytes(blob, 0, blob.length, options.backend.ordinal(),
        options.skipChecksum));
  }

  /**
   * Reads the bytes between the buffer's position and limit, and leaves both. A direct buffer, such as a mapped file,
   * is
   * used in place if these bytes begin at a multiple of 64: then its content must not change while the model is open.
   * Other buffers are copied; isCopy reports it.
   */
  public static Model open(ByteBuffer blob) {
    return open(blob, new ModelOptions());
  }

  public static Model open(ByteBuffer blob, ModelOptions options) {
    Native.load();
    final int backend = options.backend.ordinal();
    if (blob.isDirect()) {
      return opened("the buffer", () -> Native.openBuffer(blob, blob.position(), blob.remaining(), backend,
          options.skipChecksum));
    }
    if (blob.hasArray()) {
      return opened("the buffer", () -> Native.openBytes(blob.array(), blob.arrayOffset() + blob.position(),
          blob.remaining(), backend, options.skipChecksum));
    }
    final byte[] copy = new byte[blob.remaining()];
    blob.duplicate().get(copy);
    return open(copy, options);
  }

  /**
   * Maps a part of an open file, such as an uncompressed asset of a package: its descriptor (on Android
   * ParcelFileDescriptor.getFd), the part's first byte and size. The part is mapped if it begins at a multiple of 64,
   * else copied; isCopy reports it. The descriptor stays the caller's, who may close it afterwards.
   */
  public static Model openDescriptor(int descriptor, long offset, long size) {
    return openDescriptor(descriptor, offset, size, new ModelOptions());
  }

  public static Model openDescriptor(int descriptor, long offset, long size, ModelOptions options) {
    Native.load();
    try {
      return new Model("the file", Native.openDescriptor(descriptor, offset, size, options.backend.ordinal(),
          options.skipChecksum));
    } catch (IOException failure) {
      throw new UncheckedIOException("descriptor " + descriptor + ", " + size + " bytes at " + offset + ": "
          + failure.getMessage(), failure);
    } catch (FoveaException error) {
      throw error.about("descriptor " + descriptor + ", " + size + " bytes at " + offset);
    }
  }

  private interface Opening {
    long open();
  }

  private static Model opened(String name, Opening opening) {
    try {
      return new Model(name, opening.open());
    } catch (FoveaException error) {
      throw error.about(name);
    }
  }

  private Model(String name, long address) {
    this.name = name;
    boolean made = false;
    try {
      info = Native.modelInfo(address);
      backend = Native.texts(Native.modelNames(address, 0, 0))[0];
      final String[] entries = Native.texts(Native.modelNames(address, 1, 0));
      final Map<String, String> found = new LinkedHashMap<>();
      for (int i = 0; i < entries.length; i += 2) found.put(entries[i], entries[i + 1]);
      metadata = Collections.unmodifiableMap(found);
      final String[] named = Native.texts(Native.modelNames(address, 2, 0));
      final int[] numbers = Native.modelSpaces(address);
      final List<Program.Space> listed = new ArrayList<>();
      for (int i = 0; i < named.length; ++i) listed.add(new Program.Space(named[i], numbers, 5 * i));
      spaces = Collections.unmodifiableList(listed);
      final List<Program> entered = new ArrayList<>();
      for (String one : Native.texts(Native.modelNames(address, 3, 0))) {
        entered.add(new Program(address, one, entered.size()));
      }
      programs = Collections.unmodifiableList(entered);
      tokenizer = info[0] == 0 ? null : new Tokenizer(this, Native.textInfo(address));
      handle = new Handle(name.equals("the blob") ? "this model" : "model " + name, address) {
        @Override
        void free(long freed) {
          Native.closeModel(freed);
        }
      };
      made = true;
    } finally {
      if (!made) Native.closeModel(address);
    }
  }

  /** Frees the model, after the calls that are running. May be called again, and by any thread. */
  @Override
  public void close() {
    handle.close();
    idle.close();
  }

  public boolean isClosed() {
    return handle.isClosed();
  }

  /** Frees memory that is kept for the next call: for Android's onTrimMemory. */
  public void trim() {
    idle.trim();
  }

  long enter() {
    return handle.enter();
  }

  void leave() {
    handle.leave();
  }

  private void checkOpen() {
    handle.enter();
    handle.leave();
  }

  // ---- Looking inside ----

  /** The path, or what else it was opened from. */
  public String name() {
    return name;
  }

  /** Whether the blob is a copy in memory: it came from an array, or does not begin at a multiple of 64. */
  public boolean isCopy() {
    return info[6] != 0;
  }

  /** Bytes of the blob. */
  public long blobBytes() {
    return info[2];
  }

  /** Bytes of memory besides the blob: tables, and weights packed for this machine. */
  public long memoryBytes() {
    return info[5];
  }

  /** All metadata of the blob. */
  public Map<String, String> metadata() {
    return metadata;
  }

  /** The value of a key; null if there is none. */
  public String metadata(String key) {
    return metadata.get(key);
  }

  String metadata(String key, String usual) {
    final String found = metadata.get(key);
    return found == null ? usual : found;
  }

  public List<Program.Space> spaces() {
    return spaces;
  }

  public List<Program> programs() {
    return programs;
  }

  /** The model's tokenizer; an exception if it has none. */
  public Tokenizer tokenizer() {
    checkOpen();
    if (tokenizer == null) {
      throw new FoveaException(name + ": the model has no tokenizer", FoveaException.NAME);
    }
    return tokenizer;
  }

  boolean hasTokenizer() {
    return tokenizer != null;
  }

  /** The name of a class; "class N" if the blob has none. */
  public String label(int index) {
    return metadata("label." + index, "class " + index);
  }

  /** A program by its name; null: the first. */
  public Program program(String wanted) {
    final List<String> known = new ArrayList<>();
    for (Program program : programs) {
      if (wanted == null || program.name.equals(wanted)) return program;
      known.add(program.name);
    }
    throw new FoveaException(name + ": no program '" + wanted + "'; it has: " + String.join(", ", known),
        FoveaException.NAME);
  }

  /** Position of an attention operation, found by its name or by the name in metadata alias.NAME. */
  int attention(Program program, String wanted) {
    for (String known : new String[] {wanted, metadata.get("alias." + wanted)}) {
      for (int i = 0; known != null && i < program.operations.size(); ++i) {
        final Program.Operation one = program.operations.get(i);
        if (one.op.equals("attention") && one.name.equals(known)) return i;
      }
    }
    throw new FoveaException(name + ": program '" + program.name + "' has no attention '" + wanted + "'; it has: "
        + String.join(", ", program.attentions()), FoveaException.NAME);
  }

  // ---- Warnings ----

  /**
   * Receives a line for each choice that the caller has not made: truncated texts, default prompts, a mean in place of
   * an embedding. Default: the logger "fovea" (on Android: logcat).
   */
  public void onWarning(Consumer<String> receiver) {
    if (receiver == null) throw new NullPointerException("receiver is null; text -> {} ignores warnings");
    warnings = receiver;
  }

  void warn(String text) {
    warnings.accept(name + ": " + text);
  }

  /** Warns once for each model. */
  void announce(String text) {
    synchronized (announced) {
      if (!announced.add(text)) return;
    }
    warn(text);
  }

  // ---- Classes ----

  /** The classes of a text, the most probable first. */
  public List<Prediction> classify(String text) {
    return classify(text, new ClassifyOptions());
  }

  public List<Prediction> classify(String text, ClassifyOptions options) {
    return classified(Collections.singletonList(text), options).get(0);
  }

  /** The classes of two texts that the model reads together. */
  public List<Prediction> classify(TextPair pair, ClassifyOptions options) {
    return classified(Collections.singletonList(pair), options).get(0);
  }

  /** The classes of each text. */
  public List<List<Prediction>> classify(Iterable<String> texts) {
    return classified(texts, new ClassifyOptions());
  }

  public List<List<Prediction>> classify(Iterable<String> texts, ClassifyOptions options) {
    return classified(texts, options);
  }

  /** The classes of each pair of texts, for models that judge one by the other. */
  public List<List<Prediction>> classifyPairs(Iterable<TextPair> pairs, ClassifyOptions options) {
    return classified(pairs, options);
  }

  private List<List<Prediction>> classified(Iterable<?> texts, ClassifyOptions given) {
    checkOpen();
    final ClassifyOptions options = given.copy();
    final Program program = program(options.program);
    final int[] info = Results.classes(this, program);
    final Batches batches = new Batches(this, program, options, "", texts);
    final List<List<Prediction>> found = new ArrayList<>();
    for (List<Encoding> window = batches.next(); !window.isEmpty(); window = batches.next()) {
      final int first = found.size();
      found.addAll(Collections.nCopies(window.size(), (List<Prediction>) null));
      batches.run(window, (session, row, place) -> found.set(first + place,
          Results.predictions(this, session, info, row, options.top)));
    }
    return found;
  }

  /** The classes of a text, and which sentences and words the model attended to. */
  public Explanation explain(String text) {
    return explain(text, new ExplainOptions());
  }

  /** For models whose metadata names the attention that explains them (explain.SPACE). */
  public Explanation explain(String text, ExplainOptions options) {
    checkOpen();
    return new Explainer(this, options.copy()).explain(text);
  }

  // ---- Embeddings ----

  // ---- Weights of the vocabulary ----

  /**
   * For each text the tokens of the vocabulary whose weights are not 0, the largest first (SPLADE). A masked language
   * model that was not published for weights is read as SPLADE reads one.
   */
  public List<List<Weight>> wordWeights(Iterable<String> texts, WeightOptions options) {
    final WeightOptions given = options.copy();
    checkOpen();
    final Program program = program(given.program);
    final int[] read = Results.weights(this, program);
    final Batches batches = new Batches(this, program, given, Results.prompt(this, given.prompt), texts);
    final List<List<Weight>> found = new ArrayList<>();
    for (List<Encoding> window = batches.next(); !window.isEmpty(); window = batches.next()) {
      final int first = found.size();
      found.addAll(Collections.nCopies(window.size(), null));
      batches.run(window, (session, row, place) -> found.set(first + place,
          Results.weightsOf(this, session, read, row, given.top)));
    }
    return found;
  }

  // ---- Answers ----

  /** The best answer to a question in a context of any length; empty if no token of it could be an answer. */
  public List<Answer> answer(String question, String context) {
    return answer(question, context, new AnswerOptions());
  }

  /** The best answers, the best first, as transformers' pipeline finds them. */
  public List<Answer> answer(String question, String context, AnswerOptions options) {
    checkOpen();
    return new Answerer(this, options).answers(question, context);
  }

  /** The embedding of a text. */
  public float[] embed(String text) {
    return embed(text, new EmbedOptions());
  }

  public float[] embed(String text, EmbedOptions options) {
    return embed(Collections.singletonList(text), options)[0];
  }

  /** The embedding of each text. */
  public float[][] embed(Iterable<String> texts) {
    return embed(texts, new EmbedOptions());
  }

  public float[][] embed(Iterable<String> texts, EmbedOptions options) {
    return new Embedder(this, options, false).rows(texts);
  }

  /** The embeddings of all texts in one array. */
  public Embeddings embedFlat(Iterable<String> texts, EmbedOptions options) {
    return new Embedder(this, options, false).flat(texts);
  }

  /**
   * Writes the embeddings of all texts to a direct buffer of native order, row after row from its position, which moves
   * behind them. Nothing is copied on the way, unless an embedding is a mean or is normalised.
   */
  public int embedInto(Iterable<String> texts, java.nio.FloatBuffer to, EmbedOptions options) {
    return new Embedder(this, options, false).into(texts, to);
  }

  /** The embeddings of any number of texts one by one, in constant memory: reads 16 batches of texts ahead. */
  public Iterator<float[]> embedIterator(Iterable<String> texts, EmbedOptions options) {
    return new Embedder(this, options, false).iterator(texts);
  }

  /** How similar two texts are: more is more similar. */
  public double similarity(String a, String b) {
    return similarity(Collections.singletonList(a), Collections.singletonList(b), new EmbedOptions())[0][0];
  }

  /** [texts of a][texts of b] How similar texts are. */
  public double[][] similarity(Iterable<String> a, Iterable<String> b, EmbedOptions options) {
    final EmbedOptions.Measure measure = Results.measure(this, options.measure);
    final float[][] first = new Embedder(this, options, true).rows(a);
    final float[][] second = a == b ? first : new Embedder(this, options, true).rows(b);
    return similarity(first, second, measure);
  }

  /** The same of embeddings. `measure`: null is the model's. */
  public double[][] similarity(float[][] a, float[][] b, EmbedOptions.Measure measure) {
    final EmbedOptions.Measure chosen = Results.measure(this, measure);
    final double[][] found = new double[a.length][b.length];
    for (int i = 0; i < a.length; ++i) {
      for (int k = 0; k < b.length; ++k) found[i][k] = Results.similarity(a[i], b[k], chosen);
    }
    return found;
  }

  // ---- Attention ----

  /** Runs a program over texts and keeps all its attention maps. */
  public Looked look(Iterable<String> texts) {
    return look(texts, new LookOptions());
  }

  /** Runs a program over texts, all at once, and keeps attention maps. */
  public Looked look(Iterable<String> texts, LookOptions given) {
    checkOpen();
    final LookOptions options = given.copy();
    final Program program = program(options.program);
    final List<Tap> taps = new ArrayList<>(options.taps);
    if (taps.isEmpty()) {
      for (String operation : program.attentions()) taps.add(new Tap(operation));
    }
    if (taps.isEmpty()) throw new FoveaException(name + ": the program has no attention", FoveaException.NAME);
    final List<Encoding> encodings = new ArrayList<>();
    try (Session session = tapped(program, texts, options, taps, encodings)) {
      final List<AttentionMap> maps = new ArrayList<>();
      for (int i = 0; i < taps.size(); ++i) maps.add(session.map(i, taps.get(i).operation));
      return new Looked(Collections.unmodifiableList(encodings), Collections.unmodifiableList(maps),
          session.call(Native::tapsFile));
    }
  }

  /** A session that has run over texts with taps. */
  Session tapped(Program program, Iterable<String> texts, TextOptions<?> options, List<Tap> taps,
      List<Encoding> encodings) {
    final Encoder encoder = new Encoder(this, program, options, "");
    for (String text : texts) {
      Cancel.check(options.cancel);
      encodings.add(encoder.encode(text, "texts[" + encodings.size() + "]"));
    }
    if (encodings.isEmpty()) throw new NoSuchElementException("a text is needed; there is none");
    TextWarnings.of(this, encodings.toArray(new Encoding[0]), 0);
    final long[] numbers = new long[7 * taps.size()];
    for (int i = 0; i < taps.size(); ++i) System.arraycopy(taps.get(i).numbers(this, program), 0, numbers, 7 * i, 7);
    final Session session = new Session(this, program, options.workers, encoder.limits(encodings), numbers, null);
    try {
      encoder.bind(session, encodings);
      session.run(options.cancel);
      return session;
    } catch (RuntimeException | Error failure) {
      session.close();
      throw failure;
    }
  }

  // ---- Texts ----

  /**
   * Begins a text: a decoder's text for what the encoder reads or, without an encoder, the continuation of a prompt.
   */
  public Generation generate(String text) {
    return generate(text, new GenerateOptions());
  }

  public Generation generate(String text, GenerateOptions options) {
    return generate(Collections.singletonList(text), options);
  }

  /** Begins several texts, which are made together. */
  public Generation generate(Iterable<String> texts, GenerateOptions options) {
    checkOpen();
    final List<String> listed = new ArrayList<>();
    for (String text : texts) listed.add(text);
    if (listed.isEmpty()) throw new NoSuchElementException("a text is needed; there is none");
    return new Generation(this, listed, options);
  }

  // ---- About ----

  /** Version of the native library. */
  public static String version() {
    Native.load();
    return Native.text(Native.versions()[0]);
  }

  /** Highway's name of the SIMD instructions that kernels use on this machine. */
  public static String simdTarget() {
    Native.load();
    return Native.text(Native.versions()[1]);
  }

  /** Programs with their inputs and outputs, as the first part of `fovea inspect`. */
  public String describe() {
    final StringBuilder lines = new StringBuilder(this + "\n");
    for (Program program : programs) {
      lines.append("program ").append(program.name).append(", ").append(program.operations.size())
          .append(" operations\n");
      for (Program.Value value : program.values) {
        if (!value.isInput && !value.isOutput) continue;
        lines.append(value.isInput ? "  input  " : "  output ").append(value.name).append(" [")
            .append(spaces.get(value.space).name).append(", ").append(value.width).append("]\n");
      }
    }
    return lines.toString();
  }

  @Override
  public String toString() {
    final List<String> names = new ArrayList<>();
    for (Program program : programs) names.add(program.name);
    return "fovea.Model " + name + ": " + metadata("task", "no task stated") + ", programs " + String.join(", ", names)
        + ", " + blobBytes() + " bytes" + (isCopy() ? " (a copy in memory)" : "") + ", " + backend
        + (isClosed() ? ", closed" : "");
  }
}
