import android.content.res.AssetFileDescriptor;
import android.content.res.AssetManager;
import android.os.ParcelFileDescriptor;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Path;

/** The descriptor of a file of this machine, as Android has them. Needs --add-opens java.base/java.io=ALL-UNNAMED. */
final class Descriptor extends ParcelFileDescriptor {
  private final FileInputStream file;
  boolean closed;

  Descriptor(Path path) throws IOException {
    file = new FileInputStream(path.toFile());
  }

  @Override
  public int getFd() {
    try {
      final Field number = FileDescriptor.class.getDeclaredField("fd");
      number.setAccessible(true);
      return number.getInt(file.getFD());
    } catch (ReflectiveOperationException | IOException failure) {
      throw new AssertionError(failure);
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    file.close();
  }

  AssetManager assets(long start, long length) {
    return new AssetManager() {
      @Override
      public AssetFileDescriptor openFd(String name) {
        return new AssetFileDescriptor(Descriptor.this, start, length);
      }
    };
  }
}
