import fovea.ExplainOptions;
import fovea.Explanation;
import fovea.Model;
import fovea.Prediction;

/**
 * Writes explanations of texts, a line for each class, sentence and word, which explained.py compares with the
 * explanations of the command.   Explain BLOB TEXT...
 */
public final class Explain {
  private static void line(String kind, String text, int begin, int end, double weight, double share) {
    System.out.println(String.join("\t", kind, text.replace("\n", "\\n"), Integer.toString(begin),
        Integer.toString(end),
        Double.toString(weight), Double.toString(share)));
  }

  public static void main(String[] arguments) {
    try (Model model = Model.open(arguments[0])) {
      for (int i = 1; i < arguments.length; ++i) {
        final Explanation found = model.explain(arguments[i], new ExplainOptions().top(2));
        for (Prediction one : found.classes) line("class", one.label, 0, 0, one.probability, one.logit);
        for (Explanation.Sentence sentence : found.sentences) {
          line("sentence", sentence.text, sentence.begin, sentence.end, 0, sentence.share);
          for (Explanation.Word word : sentence.words) {
            Check.equal(arguments[i].substring(word.begin, word.end), word.text, "the place of a word");
            line("word", word.text, word.begin, word.end, word.weight, word.share);
          }
        }
        int words = 0;
        for (Explanation.Word word : found) words += word.text.isEmpty() ? 0 : 1;
        Check.equal(words, found.words.size(), "words");
        line("end", "", 0, 0, 0, 0);
      }
    }
  }
}
