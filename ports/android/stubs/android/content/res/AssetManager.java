package android.content.res;

import java.io.IOException;

/** What fovea.android uses of Android's class, to compile without Android's SDK. Not part of any package. */
public abstract class AssetManager {
  public abstract AssetFileDescriptor openFd(String name) throws IOException;
}
