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
