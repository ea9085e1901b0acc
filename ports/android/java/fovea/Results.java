package fovea;

import java.util.ArrayList;
import java.util.List;

/**
 * What numbers of a model mean: classes, probabilities, embeddings, similarity, by the library (fovea/result.h).
 */
final class Results {
  private Results() {}

  // Places of numbers of fovea_result_info, and some of their values.
  private static final int KIND = 1;
  static final int VALUE = 2;
  static final int WIDTH = 3;
  private static final int POOLING = 4;
  private static final int ACTIVATION = 5;
  private static final int MEASURE = 6;
  private static final int NORMALIZE = 7;
  private static final int EMBEDDING = 1;
  private static final int CLASSES = 2;
  private static final int MAX_SIM = 4;
  private static final int WORDS = 4;
  private static final int ANSWERS = 5;
  private static final int WORD_WEIGHTS = 6;
  private static final int POOLING_MAX = 2;
  private static final int LOG1P = 3;

  /** How results of a program are read: as the model states, or an output as embeddings. */
  private static int[] info(Model model, Program program, String output) {
    final byte[] name = output == null ? null : Native.bytes(output + "\0", "output");
    final long handle = model.enter();
    try {
      return Native.resultInfo(handle, program.index, name);
    } catch (FoveaException error) {
      throw error.about(model.name());
    } finally {
      model.leave();
    }
  }

  // ---- Classes ----

  /** How the scores of classes of a text are read. */
  static int[] classes(Model model, Program program) {
    final Program.Value found = program.output("logits");
    if (found == null) {
      throw new FoveaException(model.name() + ": program '" + program.name + "' has no output 'logits', the scores of "
          + "classes; its outputs are: " + String.join(", ", program.outputs()), FoveaException.NAME);
    }
    if (model.spaces().get(found.space).parent >= 0) {
      throw new FoveaException(model.name()
          + ": the program has no output for a text as a whole: it has scores for each "
          + "token", FoveaException.NAME);
    }
    final int[] info = info(model, program, null);
    if (info[KIND] == CLASSES) return info;
    throw new FoveaException(model.name() + ": its results are not classes: its task is " + model.metadata("task"),
        FoveaException.NAME);
  }

  /** The classes of a text of the last run. */
  static List<Prediction> predictions(Model model, Session session, int[] info, int text, int top) {
    final boolean numbers = info[WIDTH] == 1 || info[ACTIVATION] == 0;
    final int[] raw = info.clone();
    raw[ACTIVATION] = 0;
    final float[] logits = new float[info[WIDTH]];
    session.readResult(raw, text, logits, 0);
    final float[] scores = logits.clone();
    final int[] order = Native.present(info[ACTIVATION], scores, numbers ? scores.length : top);
    if (numbers) {
      for (int i = 0; i < order.length; ++i) order[i] = i;
    }
    final List<Prediction> found = new ArrayList<>(order.length);
    for (int i : order) {
      found.add(new Prediction(model.label(i), i, logits[i], numbers ? Double.NaN : scores[i], scores[i]));
    }
    return found;
  }

  // ---- Embeddings ----

  /** How the embedding of a text is read: of this output, or as the model states. */
  static int[] embedding(Model model, Program program, EmbedOptions options) {
    final int[] info = options.output == null ? usual(model, program) : output(model, program, options.output);
    info[NORMALIZE] = options.normalise ? 1 : 0;
    return info;
  }

  private static int[] output(Model model, Program program, String wanted) {
    final String alias = model.metadata("alias." + wanted);
    final Program.Value found = program.output(wanted) != null || alias == null ? program.output(wanted)
        : program.output(alias);
    if (found != null && found.type == Program.Value.F32) return info(model, program, found.name);
    throw new FoveaException(model.name() + ": '" + wanted + "' is not an output of numbers; its outputs are: "
        + String.join(", ", program.outputs()), FoveaException.NAME);
  }

  private static int[] usual(Model model, Program program) {
    final String task = model.metadata("task");
    if ("causal-lm".equals(task) || "seq2seq-lm".equals(task)) {
      throw new FoveaException(model.name() + ": it generates text (task " + task
          + "), and has no embeddings; output() "
          + "chooses one of its outputs, and fovea convert --task embedding, for encoders --task encoder, converts it "
          + "to a model of its hidden states", FoveaException.NAME);
    }
    int[] info = info(model, program, null);
    if (info[KIND] == WORD_WEIGHTS) return info; // a weight for each token of the vocabulary
    if (info[KIND] == ANSWERS) {
      throw new FoveaException(model.name() + ": it answers questions, and has no embeddings: use answer",
          FoveaException.NAME);
    }
    if (info[KIND] != EMBEDDING) {
      String other = "logits";
      for (String known : new String[] {"last_hidden_state", "pooler_output", "sentence_embedding"}) {
        if (program.output(known) != null) other = known;
      }
      info = info(model, program, other);
    }
    final String name = program.values.get(info[VALUE]).name;
    if (info[POOLING] != 0) {
      model.announce("the model has no embedding of a text: the mean of the rows of '" + name
          + "' is used; output(\"" + name + "\") chooses it without this warning");
    } else if (name.equals("logits")) {
      model.announce("the model has no embedding, but scores of classes, output 'logits': these are used; "
          + "output(\"logits\") chooses them without this warning, and fovea convert --task embedding converts the "
          + "model without them");
    }
    return info;
  }

  /** The prompt in front of each text; `name` null: the model's default prompt, which is announced; "": none. */
  static String prompt(Model model, String name) {
    if (name != null && name.isEmpty()) return "";
    final byte[] given = name == null ? null : Native.bytes(name + "\0", "prompt");
    final long handle = model.enter();
    final byte[] bytes;
    try {
      bytes = Native.prompt(handle, given);
    } finally {
      model.leave();
    }
    if (bytes == null) {
      final List<String> known = new ArrayList<>();
      for (String key : model.metadata().keySet()) {
        if (key.startsWith("prompt.")) known.add(key.substring(7));
      }
      throw new FoveaException(model.name() + ": no prompt '" + (name == null ? model.metadata("default_prompt") : name)
          + "'; its prompts are: " + (known.isEmpty() ? "none" : String.join(", ", known)), FoveaException.NAME);
    }
    final String found = Native.text(bytes);
    if (name == null && !found.isEmpty()) {
      model.announce("the model's default prompt is in front of each text: '" + found
          + "'; prompt(\"\") leaves it out");
    }
    return found;
  }

  // ---- Weights of the vocabulary, answers ----

  /** How weights are read: as the model was published, of any other masked language model as in SPLADE. */
  static int[] weights(Model model, Program program) {
    final int[] info = info(model, program, null);
    if (info[KIND] == WORDS) {
      info[POOLING] = POOLING_MAX;
      info[ACTIVATION] = LOG1P;
    } else if (info[KIND] != WORD_WEIGHTS) {
      throw new FoveaException(model.name() + ": it is not a masked language model, so it has no weights of words",
          FoveaException.NAME);
    }
    final Program.Space space = model.spaces().get(Encoder.idInput(model, program).space);
    if (!space.isInput && space.maxSegmentRows > 0) {
      throw new FoveaException(model.name()
          + ": it reads texts of one length, whose padding would have weights: use fovea run --sparse",
          FoveaException.NAME);
    }
    return info;
  }

  /** The weights of a text of the last run that are not 0, the largest first. */
  static List<Weight> weightsOf(Model model, Session session, int[] info, int text, int top) {
    final float[] row = new float[info[WIDTH]];
    session.readResult(info, text, row, 0);
    int some = 0;
    for (float weight : row) some += weight == 0 ? 0 : 1;
    final List<Weight> found = new ArrayList<>();
    for (int id : Native.present(0, row.clone(), Math.min(top, some))) {
      found.add(new Weight(model.tokenizer().piece(id), id, row[id]));
    }
    return found;
  }

  /** How scores of starts and ends are read; an exception if the model does not answer questions. */
  static int[] answers(Model model, Program program) {
    final int[] info = info(model, program, null);
    if (info[KIND] == ANSWERS) return info;
    throw new FoveaException(model.name() + ": it does not answer questions: a model whose class in config.json ends "
        + "with ForQuestionAnswering does", FoveaException.NAME);
  }

  // ---- Similarity ----

  /** The measure that the model was trained for. */
  static EmbedOptions.Measure measure(Model model, EmbedOptions.Measure wanted) {
    if (wanted != null) return wanted;
    final Program program = model.program(null);
    // The measure is the same for every output.
    final int measure = info(model, program, program.outputs().isEmpty() ? null : program.outputs().get(0))[MEASURE];
    if (measure != MAX_SIM) return EmbedOptions.Measure.values()[measure];
    throw new FoveaException(model.name()
        + ": compares texts token by token (late interaction): use the command fovea "
        + "similarity", FoveaException.BUILD);
  }

  static double similarity(float[] a, float[] b, EmbedOptions.Measure measure) {
    if (a.length != b.length) {
      throw new IllegalArgumentException("embeddings of " + a.length + " and " + b.length + " numbers");
    }
    return Native.similarity(measure.ordinal(), a, b);
  }
}
