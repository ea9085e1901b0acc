package android.os;

import java.io.Closeable;
import java.io.IOException;

/** The part of Android's class that fovea.android uses, to compile without Android's SDK. Not part of any package. */
public abstract class ParcelFileDescriptor implements Closeable {
  public abstract int getFd();

  @Override
  public abstract void close() throws IOException;
}
