package fovea.android;

import android.content.res.AssetFileDescriptor;
import android.content.res.AssetManager;
import fovea.Model;
import fovea.ModelOptions;
import java.io.IOException;

/** Models in an app's assets. */
public final class Assets {
  private Assets() {}

  /**
   * Opens an asset that is stored uncompressed (androidResources { noCompress += "fovea" }). It is mapped where it is
   * in
   * the package if it begins there at a multiple of 64 bytes, else copied to memory; Model.isCopy reports it.
   */
  public static Model open(AssetManager assets, String name) throws IOException {
    return open(assets, name, new ModelOptions());
  }

  public static Model open(AssetManager assets, String name, ModelOptions options) throws IOException {
    try (AssetFileDescriptor asset = assets.openFd(name)) {
      return open(asset, options);
    }
  }

  /** Opens a part of a file. The descriptor stays the caller's, who may close it afterwards. */
  public static Model open(AssetFileDescriptor asset, ModelOptions options) {
    return Model.openDescriptor(asset.getParcelFileDescriptor().getFd(), asset.getStartOffset(), asset.getLength(),
        options);
  }
}
