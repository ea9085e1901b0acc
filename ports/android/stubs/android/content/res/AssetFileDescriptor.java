package android.content.res;

import android.os.ParcelFileDescriptor;
import java.io.Closeable;
import java.io.IOException;

/** The part of Android's class that fovea.android uses, to compile without Android's SDK. Not part of any package. */
public class AssetFileDescriptor implements Closeable {
  private final ParcelFileDescriptor descriptor;
  private final long start;
  private final long length;

  public AssetFileDescriptor(ParcelFileDescriptor descriptor, long start, long length) {
    this.descriptor = descriptor;
    this.start = start;
    this.length = length;
  }

  public ParcelFileDescriptor getParcelFileDescriptor() {
    return descriptor;
  }

  public long getStartOffset() {
    return start;
  }

  public long getLength() {
    return length;
  }

  @Override
  public void close() throws IOException {
    descriptor.close();
  }
}
