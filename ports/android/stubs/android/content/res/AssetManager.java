package android.content.res;

import java.io.IOException;

/** The part of Android's class that fovea.android uses, to compile without Android's SDK. Not part of any package. */
public abstract class AssetManager {
  public abstract AssetFileDescriptor openFd(String name) throws IOException;
}
