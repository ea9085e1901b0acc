package fovea;

import java.util.ArrayList;
import java.util.List;

/**
 * What numbers of a model mean: classes, probabilities, embeddings, similarity. All such rules of this port are here;
 * the `fovea` command has the same.
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

  static List<Prediction> predictions(Model model, float[] logits, int top) {
    final String kind = model.metadata("problem_type");
    final boolean numbers = logits.length == 1 || "regression".equals(kind);
    final boolean sigmoid = logits.length == 1 && "sigmoid".equals(model.metadata("score_activation"));
    final boolean several = "multi_label_classification".equals(kind);
    double most = Double.NEGATIVE_INFINITY;
    for (float logit : logits) most = Math.max(most, logit);
    double sum = 0;
    for (float logit : logits) sum += Math.exp(logit - most);
    final List<Prediction> found = new ArrayList<>(logits.length);
    for (int i = 0; i < logits.length; ++i) {
      final double share = several || sigmoid ? 1 / (1 + Math.exp(-logits[i])) : Math.exp(logits[i] - most) / sum;
      final double score = numbers && !sigmoid ? logits[i] : share;
      found.add(new Prediction(model.label(i), i, logits[i], numbers ? Double.NaN : share, score));
    }
    if (numbers) return found;
    found.sort((a, b) -> Double.compare(b.score, a.score)); // stable
    return new ArrayList<>(found.subList(0, Math.min(top, found.size())));
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
    double dot = 0;
    double squares = 0;
    double distances = 0;
    double ofA = 0;
    double ofB = 0;
    for (int i = 0; i < a.length; ++i) {
      final double difference = (double) a[i] - b[i];
      dot += (double) a[i] * b[i];
      ofA += (double) a[i] * a[i];
      ofB += (double) b[i] * b[i];
      squares += difference * difference;
      distances += Math.abs(difference);
    }
    switch (measure) {
      case DOT: return dot;
      case EUCLIDEAN: return -Math.sqrt(squares);
      case MANHATTAN: return -distances;
      default: return ofA == 0 || ofB == 0 ? 0 : dot / Math.sqrt(ofA) / Math.sqrt(ofB);
    }
  }
}
