package fovea;

import java.util.List;

/** Encodes texts in the form that a program reads, at once or sentence by sentence, and binds them to sessions. */
final class Encoder {
  private final Model model;
  private final Program program;
  private final String prompt;
  private final Tokenizer tokenizer;
  private final Program.Value input; // token ids
  private final Program.Space space;
  private final int limit;
  private final int flags;

  Encoder(Model model, Program program, TextOptions<?> options, String prompt) {
    this.model = model;
    this.program = program;
    this.prompt = prompt;
    tokenizer = model.tokenizer();
    input = idInput(model, program);
    space = model.spaces().get(input.space);
    int most = options.maxLength;
    for (int bound : new int[] {space.maxSegmentRows, tokenizer.maxLength}) {
      if (bound > 0 && (most == 0 || bound < most)) most = bound;
    }
    limit = most;
    flags = (options.literal ? Tokenizer.LITERAL : 0)
        | (options.wrapped && readsDocuments() ? Tokenizer.WRAPPED : 0);
  }

  /** The input of token ids. */
  static Program.Value idInput(Model model, Program program) {
    for (Program.Value value : program.values) {
      if (value.isInput && value.name.equals("input_ids")) return value;
    }
    throw new FoveaException(model.name() + ": program '" + program.name + "' does not take token ids",
        FoveaException.NAME);
  }

  /** The space whose rows are the sentences of documents, if tokens nest in one; else -1. */
  static int sentenceSpace(Model model, int space) {
    final int parent = model.spaces().get(space).parent;
    if (parent < 0) return -1;
    final Program.Space above = model.spaces().get(parent);
    return above.isInput && above.parent >= 0 ? parent : -1;
  }

  boolean readsDocuments() {
    return sentenceSpace(model, input.space) >= 0;
  }

  Encoding encode(Object item, String which) {
    if (item == null) throw new NullPointerException(which + " is null");
    if (item instanceof TextPair) {
      final TextPair pair = (TextPair) item;
      if (readsDocuments()) {
        throw new IllegalArgumentException(which + ": the model reads documents, not pairs of texts");
      }
      return filled(tokenizer.encode(prompt + pair.first, pair.second, flags, limit, false, which));
    }
    final String text = prompt + item;
    if (!readsDocuments()) return filled(tokenizer.encode(text, null, flags, limit, false, which));
    return tokenizer.encode(text, null, flags, limit, true, which);
  }

  /** The most tokens of a text; 0: any number. */
  int limit() {
    return limit;
  }

  /** Pads tokens, if all texts of the model have one length. */
  Encoding filled(Encoding encoding) {
    if (space.isInput || space.maxSegmentRows < 0 || encoding.ids.length == space.maxSegmentRows) return encoding;
    if (tokenizer.padId < 0 || encoding.ids.length > space.maxSegmentRows) {
      throw new FoveaException(model.name() + ": the model takes " + space.maxSegmentRows
          + " tokens, and has no padding "
          + "for " + encoding.ids.length, FoveaException.LENGTH);
    }
    return new Encoding(encoding, space.maxSegmentRows, tokenizer.padId);
  }

  /** Limits that fit exactly these texts. */
  int[][] limits(List<Encoding> texts) {
    final int[][] found = new int[model.spaces().size()][];
    long sum = 0;
    int longest = 1;
    int sentences = 0;
    int most = 1;
    for (Encoding one : texts) {
      final int[] lengths = one.sentences == null ? new int[] {one.ids.length} : one.sentences;
      for (int length : lengths) {
        sum += length;
        longest = Math.max(longest, length);
      }
      sentences += lengths.length;
      most = Math.max(most, lengths.length);
    }
    if (sum > Integer.MAX_VALUE) throw new FoveaException(model.name() + ": too many tokens", FoveaException.LENGTH);
    if (space.isInput) found[input.space] = new int[] {(int) Math.max(1, sum), longest};
    if (space.parent >= 0) {
      found[space.parent] = new int[] {Math.max(1, sentences), readsDocuments() ? most : 0};
      final int above = model.spaces().get(space.parent).parent;
      if (above >= 0) found[above] = new int[] {texts.size(), 0};
    }
    for (int i = 0; i < found.length; ++i) { // one run has all rows of a cached text
      if (model.spaces().get(i).isCached) found[i] = new int[] {(int) Math.max(texts.size(), sum), longest};
    }
    return found;
  }

  private int[] joined(List<Encoding> texts, boolean types) {
    int count = 0;
    for (Encoding one : texts) count += one.ids.length;
    final int[] all = new int[count];
    int at = 0;
    for (Encoding one : texts) {
      System.arraycopy(types ? one.types : one.ids, 0, all, at, one.ids.length);
      at += one.ids.length;
    }
    return all;
  }

  private int[] lengths(List<Encoding> texts) {
    int count = 0;
    for (Encoding one : texts) count += one.sentences == null ? 1 : one.sentences.length;
    final int[] found = new int[count];
    int at = 0;
    for (Encoding one : texts) {
      if (one.sentences == null) {
        found[at++] = one.ids.length;
      } else {
        System.arraycopy(one.sentences, 0, found, at, one.sentences.length);
        at += one.sentences.length;
      }
    }
    return found;
  }

  void bind(Session session, List<Encoding> texts) {
    final int[] ids = joined(texts, false);
    final int[] types = joined(texts, true);
    if (space.isInput) {
      int[] documents = null;
      if (readsDocuments()) {
        documents = new int[texts.size()];
        for (int i = 0; i < documents.length; ++i) documents[i] = texts.get(i).sentences.length;
      }
      session.bind(ids, types, lengths(texts), documents);
    } else {
      if (space.parent >= 0) session.setSegments(space.parent, new int[] {texts.size()});
      session.write(input.index, ids, 0);
    }
    for (Program.Value value : program.values) {
      final boolean bound = value == input || value.name.equals("token_type_ids") && space.isInput;
      if (!value.isInput || value.isCarried || bound) continue;
      final String usual = model.metadata("default." + value.name);
      if (value.name.equals("token_type_ids")) {
        session.write(value.index, types, 0);
      } else if (usual != null && usual.matches("-?[0-9]{1,9}") && value.type == Program.Value.I32) {
        session.write(value.index, null, Integer.parseInt(usual));
      } else {
        throw new FoveaException(model.name() + ": input '" + value.name + "' of program '" + program.name
            + "' is not made of texts", FoveaException.NAME);
      }
    }
  }
}
