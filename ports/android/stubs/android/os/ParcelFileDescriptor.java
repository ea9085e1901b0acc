package android.os;

import java.io.Closeable;
import java.io.IOException;

/** What fovea.android uses of Android's class, to compile without Android's SDK. Not part of any package. */
public abstract class ParcelFileDescriptor implements Closeable {
  public abstract int getFd();

  @Override
  public abstract void close() throws IOException;
}
