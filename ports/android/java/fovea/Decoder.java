package fovea;

import java.util.ArrayList;
import java.util.List;

/** The sessions of a generation: the encoder, if there is one, has run, and the decoder has room for the texts. */
final class Decoder implements AutoCloseable {
  private static final int USUAL_NEW_TOKENS = 512; // if neither the caller nor the model limits them
  private static final int PROMPT_ROWS = 512; // prefill: most rows of a prompt per run

  private final Model model;
  private final Program program;
  final int[][] prompts; // tokens; null: the encoder has read them
  final Session decode;
  private Session encode;
  final long generator;

  Decoder(Model model, List<String> texts, GenerateOptions options) {
    this.model = model;
    final int[] programs = programs();
    program = model.programs().get(programs[0]);
    final int token = value(program, model.metadata("generate.token", "input_ids")).space;
    int most = options.maxTokens != 0 ? options.maxTokens : listedMost(model);
    if (most == 0) most = USUAL_NEW_TOKENS;
    Session made = null;
    try {
      final Program encoder = programs[1] < 0 ? null : model.programs().get(programs[1]);
      if (encoder != null) {
        prompts = null;
        made = read(encoder, texts, options, token, most);
      } else {
        prompts = promptsOf(token, texts, options.literal);
        made = new Session(model, program, options.workers, promptLimits(token, most), null, null);
      }
      decode = made;
      generator = start(options);
    } catch (RuntimeException | Error failure) {
      if (made != null) made.close();
      if (encode != null) encode.close();
      throw failure;
    }
  }

  /** Closes the sessions; the generator is closed before. */
  @Override
  public void close() {
    decode.close();
    if (encode != null) encode.close();
  }

  /** The most tokens of a text by the metadata; 0: any number. */
  private static int listedMost(Model model) {
    final String found = model.metadata("generate.max_tokens", model.metadata("generate.most", "0"));
    return found.matches("[0-9]{1,9}") ? Integer.parseInt(found) : 0;
  }

  private Program.Value value(Program of, String name) {
    for (String known : new String[] {name, model.metadata("alias." + name)}) {
      for (Program.Value value : of.values) {
        if (value.name.equals(known)) return value;
      }
    }
    throw new FoveaException(model.name() + ": program '" + of.name + "' has no value '" + name + "'",
        FoveaException.NAME);
  }

  /** {decoder, encoder or -1} */
  private int[] programs() {
    final long handle = model.enter();
    try {
      return Native.generatePrograms(handle);
    } catch (FoveaException error) {
      throw error.about(model.name());
    } finally {
      model.leave();
    }
  }

  // ---- With an encoder ----

  /** Runs the encoder. Returns the decoder's session. */
  private Session read(Program encoder, List<String> texts, GenerateOptions options, int token, int most) {
    final TextOptions<?> reading = new EmbedOptions().literal(options.literal);
    final Encoder encoding = new Encoder(model, encoder, reading, "");
    final List<Encoding> read = new ArrayList<>();
    for (int i = 0; i < texts.size(); ++i) read.add(encoding.encode(texts.get(i), "texts[" + i + "]"));
    TextWarnings.of(model, read.toArray(new Encoding[0]), 0);
    final int[][] limits = encoding.limits(read);
    encode = new Session(model, encoder, options.workers, limits, null, null);
    encoding.bind(encode, read);
    encode.run(null);
    final long address = model.enter();
    final int[] linked;
    try {
      linked = Native.linked(address, program.index);
    } finally {
      model.leave();
    }
    return new Session(model, program, options.workers, linkedLimits(limits, linked, token, texts.size(), most), null,
        linked);
  }

  /** Limits of a decoder that reads what the encoder has written. */
  private int[][] linkedLimits(int[][] read, int[] linked, int token, int texts, int most) {
    final int[][] found = new int[read.length][];
    for (int i = 0; i < read.length; ++i) {
      if (read[i] != null && !model.spaces().get(i).isCached) found[i] = read[i].clone();
    }
    for (int input : linked) { // outputs of the encoder in derived spaces are read in separate spaces
      final Program.Value value = program.values.get(input);
      final String output = model.metadata("generate.link." + value.name);
      if (found[value.space] != null || output == null || !model.spaces().get(value.space).isInput) continue;
      final int[] offsets = encode.segments(value(encode.program, output).space);
      int longest = 1;
      for (int i = 1; i < offsets.length; ++i) longest = Math.max(longest, offsets[i] - offsets[i - 1]);
      found[value.space] = new int[] {Math.max(1, offsets[offsets.length - 1]), longest};
    }
    if (found[token] != null) return found; // the decoder has no KV cache
    final int[][] kept = keptLimits(token, texts, texts, 1L + most);
    for (int i = 0; i < kept.length; ++i) {
      if (found[i] == null) found[i] = kept[i];
    }
    return found;
  }

  // ---- With prompts ----

  /** Limits of a decoder with a KV cache. */
  private int[][] keptLimits(int space, int texts, int newTokens, long context) {
    final int longest = model.spaces().get(space).maxSegmentRows;
    if (longest > 0) context = Math.min(context, longest);
    if (texts * context > Integer.MAX_VALUE) {
      throw new FoveaException("generate: " + texts + " texts of " + context + " tokens are too many",
          FoveaException.LENGTH);
    }
    final int[][] found = new int[model.spaces().size()][];
    found[space] = new int[] {Math.max(texts, Math.min(newTokens, Math.max(PROMPT_ROWS, texts))), 0};
    final int parent = model.spaces().get(space).parent;
    if (parent >= 0) found[parent] = new int[] {texts, 0};
    for (int i = 0; i < found.length; ++i) {
      if (model.spaces().get(i).isCached) found[i] = new int[] {(int) (texts * context), (int) context};
    }
    return found;
  }

  /** The most tokens of a text with its prompt: what the model was trained for. */
  private int trained(int space) {
    int found = Integer.MAX_VALUE;
    for (int bound : new int[] {model.spaces().get(space).maxSegmentRows, model.tokenizer().maxLength}) {
      if (bound > 0) found = Math.min(found, bound);
    }
    return found;
  }

  private int[][] promptsOf(int space, List<String> texts, boolean literal) {
    final int flags = Tokenizer.UNLIMITED | (literal ? Tokenizer.LITERAL : 0);
    final int[][] found = new int[texts.size()][];
    final int trained = trained(space);
    for (int i = 0; i < found.length; ++i) {
      final String which = "texts[" + i + "]";
      found[i] = model.tokenizer().encode(texts.get(i), null, flags, 0, false, which).ids;
      if (found[i].length == 0) {
        throw new FoveaException(which + ": the prompt is empty, and the tokenizer adds no token before a text",
            FoveaException.LENGTH);
      }
      if (found[i].length > trained) {
        throw new FoveaException(which + ": the prompt has " + found[i].length + " tokens, texts have " + trained
            + " at most: give a shorter one", FoveaException.LENGTH);
      }
    }
    return found;
  }

  private int[][] promptLimits(int token, int most) {
    int longest = 0;
    int sum = 0;
    for (int[] prompt : prompts) {
      longest = Math.max(longest, prompt.length);
      sum += prompt.length;
    }
    return keptLimits(token, prompts.length, sum, Math.min((long) longest + most, trained(token)));
  }

  private long start(GenerateOptions options) {
    int[] ids = null;
    int[] lengths = null;
    if (prompts != null) {
      lengths = new int[prompts.length];
      int sum = 0;
      for (int i = 0; i < lengths.length; ++i) sum += lengths[i] = prompts[i].length;
      ids = new int[sum];
      int at = 0;
      for (int[] prompt : prompts) {
        System.arraycopy(prompt, 0, ids, at, prompt.length);
        at += prompt.length;
      }
    }
    final int[] numbers = {options.maxTokens, options.topK, options.logprobs ? 1 : 0};
    final float[] rules = {options.temperature, options.topP, options.minP, options.repetitionPenalty,
        options.presencePenalty};
    final int[] all = ids;
    final int[] each = lengths;
    return decode.call(address -> encode == null
        ? Native.newGenerator(address, 0, numbers, rules, options.seed, options.stopIds, all, each)
        : encode.call(from -> Native.newGenerator(address, from, numbers, rules, options.seed, options.stopIds, all,
            each)));
  }
}
