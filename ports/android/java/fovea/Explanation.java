package fovea;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;

/** The classes of a text, and what the model attended to. Iterating gives the words. */
public final class Explanation implements Iterable<Explanation.Word> {
  /** A word of the text: text.substring(begin, end). */
  public static final class Word {
    public final String text;
    public final int begin;
    public final int end;
    /** Attention weight among the words of its sentence, or of the text. */
    public final double weight;
    /** The weight times that of its sentence. */
    public final double share;

    Word(String text, int begin, int end, double weight, double share) {
      this.text = text;
      this.begin = begin;
      this.end = end;
      this.weight = weight;
      this.share = share;
    }

    @Override
    public String toString() {
      return text + " " + Math.round(share * 1e4) / 1e4;
    }
  }

  /** A sentence of a document. */
  public static final class Sentence {
    public final String text;
    public final int begin;
    public final int end;
    /** Attention weight among the sentences. */
    public final double share;
    public final List<Word> words;

    Sentence(String text, int begin, int end, double share, List<Word> words) {
      this.text = text;
      this.begin = begin;
      this.end = end;
      this.share = share;
      this.words = Collections.unmodifiableList(words);
    }

    @Override
    public String toString() {
      return text + " " + Math.round(share * 1e4) / 1e4;
    }
  }

  public final String text;
  public final List<Prediction> classes;
  public final List<Word> words;
  /** Empty if the model reads a text at once. */
  public final List<Sentence> sentences;

  Explanation(String text, List<Prediction> classes, List<Word> words, List<Sentence> sentences) {
    this.text = text;
    this.classes = classes;
    this.words = Collections.unmodifiableList(words);
    this.sentences = Collections.unmodifiableList(sentences);
  }

  @Override
  public Iterator<Word> iterator() {
    return words.iterator();
  }

  /** The words with the largest shares. */
  public List<Word> top(int count) {
    final List<Word> found = new ArrayList<>(words);
    found.sort((a, b) -> Double.compare(b.share, a.share));
    return new ArrayList<>(found.subList(0, Math.min(Math.max(0, count), found.size())));
  }

  @Override
  public String toString() {
    return "fovea.Explanation: " + classes.get(0) + "; words: " + top(5);
  }
}
