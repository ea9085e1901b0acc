import fovea.Answer;
import fovea.AnswerOptions;
import fovea.AttentionMap;
import fovea.ClassifyOptions;
import fovea.EmbedOptions;
import fovea.GenerateOptions;
import fovea.LookOptions;
import fovea.Model;
import fovea.Prediction;
import fovea.Tap;
import fovea.Weight;
import fovea.WeightOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Does the jobs of the ports: classify, embed, generate, look, answer and weigh words. It writes their results as JSON,
 * which jobs.py compares with the command's.   Jobs FOLDER TEXT...
 */
public final class Jobs {
  private static String folder;
  private static final StringBuilder JSON = new StringBuilder("{");

  private static Model open(String name) {
    return Model.open(folder + "/" + name + ".fovea");
  }

  // ---- JSON ----

  private static String quoted(String text) {
    final StringBuilder made = new StringBuilder("\"");
    for (char one : text.toCharArray()) {
      if (one == '"' || one == '\\') made.append('\\');
      made.append(one < 0x20 ? String.format("\\u%04x", (int) one) : String.valueOf(one));
    }
    return made.append('"').toString();
  }

  private static String json(Object value) {
    final List<String> parts = new ArrayList<>();
    if (value instanceof String) return quoted((String) value);
    if (value instanceof Map) {
      for (Map.Entry<?, ?> one : ((Map<?, ?>) value).entrySet()) {
        parts.add(quoted((String) one.getKey()) + ":" + json(one.getValue()));
      }
      return "{" + String.join(",", parts) + "}";
    }
    if (value instanceof float[]) {
      for (float one : (float[]) value) parts.add(Float.toString(one));
    } else if (value instanceof int[]) {
      for (int one : (int[]) value) parts.add(Integer.toString(one));
    } else if (value instanceof Object[]) {
      for (Object one : (Object[]) value) parts.add(json(one));
    } else if (value instanceof List) {
      for (Object one : (List<?>) value) parts.add(json(one));
    } else {
      return value.toString();
    }
    return "[" + String.join(",", parts) + "]";
  }

  private static void add(String job, Object value) {
    JSON.append(JSON.length() == 1 ? "" : ",").append(quoted(job)).append(':').append(json(value));
  }

  // ---- Jobs ----

  private static void classify(String job, String name, List<String> texts) {
    try (Model model = open(name)) {
      final List<Object> all = new ArrayList<>();
      for (List<Prediction> classes : model.classify(texts, new ClassifyOptions().workers(2))) {
        final List<Object> one = new ArrayList<>();
        for (Prediction found : classes) {
          final Map<String, Object> entry = new LinkedHashMap<>();
          entry.put("label", found.label);
          entry.put("probability", found.probability);
          entry.put("logit", found.logit);
          one.add(entry);
        }
        all.add(one);
      }
      add(job, all);
    }
  }

  private static void tokens(List<String> texts) {
    try (Model model = open("package-section")) {
      final List<Object> all = new ArrayList<>();
      for (String text : texts) all.add(model.tokenizer().encode(text).ids());
      add("tokens", all);
    }
  }

  private static void embed(String job, String name, List<String> texts) {
    try (Model model = open(name)) {
      model.onWarning(text -> { });
      add(job, model.embed(texts, new EmbedOptions().workers(2)));
    }
  }

  private static void generate(String job, GenerateOptions options) {
    final StringBuilder text = new StringBuilder();
    try (Model writer = open("package-writer")) {
      writer.generate("libs / libpng-tools\n", options.maxTokens(24).workers(2)).parts().forEach(text::append);
    }
    add(job, text.toString());
  }

  private static void answer(String job, AnswerOptions options) {
    final String context = "A library to read compressed audio files. \u00c4ltere und neuere Formate: it supports "
        + "FLAC, Ogg Vorbis and \u4e2d\u6587 tags; a text editor for programmers is not part of it, nor are games, "
        + "fonts or a web server.";
    final List<Object> all = new ArrayList<>();
    try (Model model = open("question")) {
      for (Answer found : model.answer("Which formats?", context, options.top(4).allowNone(true).workers(2))) {
        final Map<String, Object> entry = new LinkedHashMap<>();
        if (!context.substring(found.begin, found.end).equals(found.text)) throw new AssertionError(found);
        entry.put("text", found.text);
        entry.put("score", found.score);
        entry.put("begin", context.substring(0, found.begin).getBytes(StandardCharsets.UTF_8).length);
        entry.put("end", context.substring(0, found.end).getBytes(StandardCharsets.UTF_8).length);
        all.add(entry);
      }
    }
    add(job, all);
  }

  private static void weights(String job, WeightOptions options, List<String> texts) {
    final List<Object> all = new ArrayList<>();
    try (Model model = open("weights")) {
      model.onWarning(text -> { });
      for (List<Weight> weights : model.wordWeights(texts, options.top(6).workers(2))) {
        final List<Object> one = new ArrayList<>();
        for (Weight found : weights) {
          final Map<String, Object> entry = new LinkedHashMap<>();
          entry.put("token", found.token);
          entry.put("id", found.id);
          entry.put("weight", found.weight);
          one.add(entry);
        }
        all.add(one);
      }
    }
    add(job, all);
  }

  private static void look(String job, boolean sparse, List<String> texts) throws Exception {
    try (Model model = open("package-section")) {
      final List<Tap> taps = new ArrayList<>();
      for (String name : model.program(null).attentions()) taps.add(new Tap(name).sparse());
      final LookOptions options = new LookOptions().workers(2).taps(sparse ? taps.toArray(new Tap[0]) : new Tap[0]);
      final fovea.Looked looked = model.look(texts, options);
      final List<Object> maps = new ArrayList<>();
      for (AttentionMap map : looked.maps) {
        final List<Object> segments = new ArrayList<>();
        for (int segment = 0; segment < map.segments(); ++segment) {
          final Object[] heads = new Object[map.heads];
          for (int head = 0; head < map.heads; ++head) heads[head] = map.segment(segment, head);
          segments.add(heads);
        }
        final Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("operation", map.operation);
        entry.put("segments", segments);
        maps.add(entry);
      }
      add(job, maps);
      Files.write(Paths.get(folder, job + ".safetensors"), looked.file);
    }
  }

  public static void main(String[] arguments) throws Exception {
    folder = arguments[0];
    final List<String> texts = Arrays.asList(arguments).subList(1, arguments.length);
    classify("classify", "package-section", texts);
    classify("documents", "package-section-hierarchical", texts);
    tokens(texts);
    embed("pooled", "package-section-encoder", texts);
    embed("means", "package-writer-encoder", texts);
    generate("greedy", new GenerateOptions());
    generate("sampled", new GenerateOptions().temperature(0.8).topK(20).seed(7));
    generate("stopped", new GenerateOptions().stop("is a lib", "nowhere"));
    try (Model dates = open("date-normaliser")) {
      add("dates", dates.generate(Arrays.asList("3rd of March 2014", "Tuesday, 5 May 1998", "1/2/2003"),
          new GenerateOptions()).finish());
    }
    answer("answers", new AnswerOptions());
    answer("long_answers", new AnswerOptions().maxLength(30).stride(8).maxTokens(5));
    weights("weights", new WeightOptions(), texts);
    weights("document_weights", new WeightOptions().prompt("document"), texts);
    look("look", false, texts);
    look("look_sparse", true, texts);
    System.out.write(JSON.append("}\n").toString().getBytes(StandardCharsets.UTF_8));
    System.out.flush();
  }
}
