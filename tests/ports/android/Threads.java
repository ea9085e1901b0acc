import fovea.Cancel;
import fovea.ClassifyOptions;
import fovea.EmbedOptions;
import fovea.GenerateOptions;
import fovea.Generation;
import fovea.Model;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Several threads, cancelling, interrupts, and closing while calls are running.   Threads FOLDER */
public final class Threads {
  private static final List<String> MANY = Collections.nCopies(6000, "a text editor for programmers, with macros");
  private static String folder;

  private static Model open(String name) {
    return Model.open(folder + "/" + name + ".fovea");
  }

  /** All threads get what one thread gets, from one model. */
  private static void share() throws Exception {
    final ExecutorService pool = Executors.newFixedThreadPool(6);
    try (Model model = open("package-section")) {
      final List<String> texts = new ArrayList<>();
      for (int i = 0; i < 40; ++i) texts.add(String.join(" ", Collections.nCopies(i + 1, "editor " + i)));
      final String expected = model.classify(texts).toString();
      final List<Future<String>> found = new ArrayList<>();
      for (int i = 0; i < 24; ++i) {
        final ClassifyOptions options = new ClassifyOptions().workers(1 + i % 3).batchSize(1 + 7 * (i % 5));
        found.add(pool.submit(() -> model.classify(texts, options).toString()));
      }
      for (Future<String> one : found) Check.equal(one.get(), expected, "classes of several threads");
    }
    pool.shutdown();
  }

  /** The call ends with a CancellationException after `stop`; without it, it would end much later, and well. */
  private static void cancelled(String what, Callable<?> call, Runnable stop) throws Exception {
    final Throwable[] thrown = new Throwable[1];
    final Thread thread = new Thread(() -> {
      try {
        call.call();
      } catch (Throwable failure) {
        thrown[0] = failure;
      }
    });
    thread.start();
    Thread.sleep(150);
    if (stop == null) thread.interrupt(); else stop.run();
    thread.join(60000);
    Check.holds(!thread.isAlive(), what + " was not cancelled");
    if (!(thrown[0] instanceof CancellationException)) throw new AssertionError(what + " did its work", thrown[0]);
  }

  private static void cancel() throws Exception {
    try (Model model = open("package-section"); Model writer = open("package-writer")) {
      final String expected = model.classify("x").toString();
      for (int workers = 1; workers < 3; ++workers) {
        final Cancel by = new Cancel();
        final ClassifyOptions options = new ClassifyOptions().cancel(by).workers(workers);
        cancelled("classify", () -> model.classify(MANY, options), by::cancel);
        Check.refused(CancellationException.class, "the call was cancelled", () -> model.classify("x", options));
        by.clear();
        Check.equal(model.classify("x", options).toString(), expected, "classes after cancelling");
        cancelled("interrupted classify", () -> model.classify(MANY, options), null);
        Check.equal(model.classify("x", options).toString(), expected, "classes after an interrupt");
      }
      // A thread that was interrupted before: it stays so.
      Thread.currentThread().interrupt();
      Check.refused(CancellationException.class, "interrupted", () -> model.classify("x"));
      Check.refused(CancellationException.class, "interrupted", () -> writer.generate("vim").finish());
      Check.holds(Thread.interrupted(), "the thread stays interrupted");

      final String text = writer.generate("Package: vim", new GenerateOptions().maxTokens(12)).text();
      try (Generation made = writer.generate("Package: vim", new GenerateOptions().maxTokens(12))) {
        made.next();
        made.cancel(); // between two steps: it is not lost
        Check.refused(CancellationException.class, "cancelled", made::next);
        Check.equal(made.finish().get(0), text, "the text after a cancelled step");
      }
      final String long1 = String.join(" ", Collections.nCopies(30, "Package: vim"));
      try (Generation made = writer.generate(Collections.nCopies(300, long1), new GenerateOptions().maxTokens(200))) {
        cancelled("generate", made::finish, made::cancel);
      }
      try (Generation made = writer.generate(Collections.nCopies(300, "Package: vim"), new GenerateOptions()
          .maxTokens(200))) {
        cancelled("interrupted generate", made::finish, null);
      }
    }
  }

  /** Whether a thread was refused because another one used the generation. */
  private static boolean shared(Model writer) throws Exception {
    final Generation made = writer.generate(Collections.nCopies(200, "Package: vim"),
        new GenerateOptions().maxTokens(64));
    final CountDownLatch began = new CountDownLatch(1);
    final Throwable[] thrown = new Throwable[1];
    final Thread thread = new Thread(() -> {
      try {
        made.next();
        began.countDown();
        made.finish();
      } catch (Throwable failure) {
        thrown[0] = failure;
      }
    });
    thread.start();
    began.await();
    boolean refused = false;
    for (int i = 0; i < 200 && !refused; ++i) {
      try {
        made.next();
      } catch (IllegalStateException busy) {
        refused = busy.getMessage().contains("only one at a time can use it");
      }
    }
    made.close();
    thread.join();
    if (!refused) return false;
    Check.equal(thrown[0].getMessage(), "this generation is closed", "the thread that was using it");
    Check.equal(made.texts().size(), 200, "texts of a closed generation");
    return true;
  }

  /** A generation is one thread's at a time; closing is allowed during a step, and in a listener. */
  private static void generation() throws Exception {
    try (Model writer = open("package-writer")) {
      boolean met = false; // on a busy machine the two threads may miss each other
      for (int attempt = 0; attempt < 20 && !met; ++attempt) met = shared(writer);
      Check.holds(met, "two threads in one generation");

      final Generation other = writer.generate("Package: vim");
      Check.refused(IllegalStateException.class, "this generation is closed",
          () -> other.forEachPart((text, part) -> other.close()));
      Check.refused(IllegalStateException.class, "this generation is closed", other::next);
      final RuntimeException own = new RuntimeException("mine");
      try (Generation third = writer.generate("Package: vim")) {
        Check.refused(RuntimeException.class, "mine", () -> third.forEachPart((text, part) -> {
          throw own;
        }));
        Check.holds(third.next() != null, "it can be continued");
      }
    }
  }

  /** A model is closed while many threads use it: each gets its result, or the error that it is closed. */
  private static void close() throws Exception {
    final ExecutorService pool = Executors.newFixedThreadPool(8);
    int inTime = 0;
    for (int turn = 0; turn < 30; ++turn) {
      final Model model = open("package-section");
      final String expected = model.classify("a text editor").toString();
      final List<Future<Object>> found = new ArrayList<>();
      for (int i = 0; i < 16; ++i) {
        found.add(pool.submit(() -> {
          try {
            return model.classify("a text editor", new ClassifyOptions().workers(2)).toString();
          } catch (IllegalStateException closed) {
            Check.holds(closed.getMessage().contains("is closed"), closed.toString());
            return null;
          }
        }));
      }
      if (turn % 2 == 0) Thread.sleep(turn / 2);
      model.close();
      model.close();
      for (Future<Object> one : found) {
        final Object result = one.get();
        if (result == null) continue;
        Check.equal(result, expected, "classes while closing");
        ++inTime;
      }
    }
    System.out.println("closing: " + inTime + " of 480 calls were in time");
    // The model goes first, what was made of it continues.
    final Model writer = open("package-writer");
    final String text = writer.generate("Package: vim", new GenerateOptions().maxTokens(8)).text();
    final Generation made = writer.generate("Package: vim", new GenerateOptions().maxTokens(8));
    writer.close();
    Check.equal(made.text(), text, "a text of a closed model");
    Check.refused(IllegalStateException.class, "closed", () -> writer.generate("x"));
    // Progress that throws, and that closes the model.
    final Model model = open("package-section-encoder");
    final EmbedOptions throwing = new EmbedOptions().batchSize(4).progress((done, total) -> {
      throw new ArithmeticException("mine " + done + " of " + total);
    });
    Check.refused(ArithmeticException.class, "mine 4 of 10", () -> model.embed(Collections.nCopies(10, "x"), throwing));
    final EmbedOptions closing = new EmbedOptions().batchSize(4).progress((done, total) -> model.close());
    Check.refused(IllegalStateException.class, "is closed", () -> model.embed(Collections.nCopies(10, "x"), closing));
    pool.shutdown();
  }

  public static void main(String[] arguments) throws Exception {
    folder = arguments[0];
    share();
    cancel();
    generation();
    close();
    System.out.println("threads: as expected");
  }
}
