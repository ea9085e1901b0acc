package fovea;

import java.util.ArrayList;
import java.util.List;

/**
 * What numbers of a model mean: classes, probabilities, embeddings, similarity, by the library (fovea/result.h).
 */
final class Results {
  private Results() {}

  // ---- Classes ----

  /** The output with scores of classes of a text as a whole. */
  static Program.Value logits(Model model, Program program) {
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
    return found;
  }

  static List<Prediction> predictions(Model model, Program program, float[] logits, int top) {
    final int[] info = info(model, program);
    final boolean numbers = info[WIDTH] == 1 || info[ACTIVATION] == 0;
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

  // Numbers of fovea_result_info.
  private static final int WIDTH = 2;
  private static final int ACTIVATION = 4;

  private static int[] info(Model model, Program program) {
    final long handle = model.enter();
    try {
      return Native.resultInfo(handle, program.index);
    } catch (FoveaException error) {
      throw error.about(model.name());
    } finally {
      model.leave();
    }
  }

  // ---- Embeddings ----

  /** The output that is the embedding of a text. */
  static Program.Value embedding(Model model, Program program, String wanted) {
    if (wanted != null) {
      final String alias = model.metadata("alias." + wanted);
      final Program.Value found = program.output(wanted) != null || alias == null ? program.output(wanted)
          : program.output(alias);
      if (found != null && found.type == Program.Value.F32) return found;
      throw new FoveaException(model.name() + ": '" + wanted + "' is not an output of numbers; its outputs are: "
          + String.join(", ", program.outputs()), FoveaException.NAME);
    }
    final String task = model.metadata("task");
    if ("causal-lm".equals(task) || "seq2seq-lm".equals(task)) {
      throw new FoveaException(model.name() + ": it generates text (task " + task
          + "), and has no embeddings; output() "
          + "chooses one of its outputs, and fovea convert --task embedding, for encoders --task encoder, converts it "
          + "to a model of its hidden states", FoveaException.NAME);
    }
    Program.Value best = null;
    for (Program.Value value : program.values) {
      if (value.isOutput && value.type == Program.Value.F32
          && (best == null || rank(model, value) < rank(model, best))) {
        best = value;
      }
    }
    if (best == null) {
      throw new FoveaException(model.name() + ": program '" + program.name + "' has no outputs", FoveaException.NAME);
    }
    if (model.spaces().get(best.space).parent >= 0) {
      model.announce("the model has no embedding of a text: the mean of the rows of '" + best.name
          + "' is used; output(\""
          + best.name + "\") chooses it without this warning");
    } else if (best.name.equals("logits")) {
      model.announce("the model has no embedding, but scores of classes, output 'logits': these are used; "
          + "output(\"logits\") chooses them without this warning, and fovea convert --task embedding converts the "
          + "model without them");
    }
    return best;
  }

  private static int rank(Model model, Program.Value value) {
    if (model.spaces().get(value.space).parent >= 0) return value.name.equals("last_hidden_state") ? 3 : 4;
    return value.name.equals("sentence_embedding") ? 0 : value.name.equals("pooler_output") ? 1 : 2;
  }

  /** Writes the embedding of a text of a batch: a row of the output, or the mean of its rows. */
  static void embed(Session session, Program.Value output, int[] offsets, int text, boolean normalise, float[] to,
      int at) {
    final int width = output.width;
    if (offsets == null) {
      session.readRow(output.index, text, to, at);
    } else {
      final double[] sums = new double[width];
      for (int row = offsets[text]; row < offsets[text + 1]; ++row) {
        session.readRow(output.index, row, to, at);
        for (int i = 0; i < width; ++i) sums[i] += to[at + i];
      }
      final int rows = Math.max(1, offsets[text + 1] - offsets[text]);
      for (int i = 0; i < width; ++i) to[at + i] = (float) (sums[i] / rows);
    }
    if (normalise) normalise(to, at, width);
  }

  /** Scales to length 1; zeros stay zeros. */
  private static void normalise(float[] row, int at, int width) {
    double sum = 0;
    for (int i = at; i < at + width; ++i) sum += (double) row[i] * row[i];
    if (sum == 0) return;
    final double length = Math.sqrt(sum);
    for (int i = at; i < at + width; ++i) row[i] = (float) (row[i] / length);
  }

  // ---- Similarity ----

  static EmbedOptions.Measure measure(Model model, EmbedOptions.Measure wanted) {
    if (wanted != null) return wanted;
    if ("late".equals(model.metadata("interaction"))) {
      throw new FoveaException(model.name()
          + ": compares texts token by token (late interaction): use the command fovea "
          + "similarity", FoveaException.BUILD);
    }
    final String listed = model.metadata("similarity");
    for (EmbedOptions.Measure measure : EmbedOptions.Measure.values()) {
      if (measure.name().equalsIgnoreCase(listed)) return measure;
    }
    if (listed == null) return EmbedOptions.Measure.COSINE;
    throw new FoveaException(model.name() + ": its measure '" + listed + "' is unknown", FoveaException.OPTION);
  }

  static double similarity(float[] a, float[] b, EmbedOptions.Measure measure) {
    if (a.length != b.length) {
      throw new IllegalArgumentException("embeddings of " + a.length + " and " + b.length + " numbers");
    }
    return Native.similarity(measure.ordinal(), a, b);
  }
}
