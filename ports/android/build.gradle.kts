// A library module of an Android project. Not run: no Gradle and no NDK were available. It builds what aar.py builds,
// with Kotlin's functions. The archives of cmake/fetch_sources.sh must be in build/deps/tarballs of this repository.
plugins {
    id("com.android.library")
    id("org.jetbrains.kotlin.android")
}

android {
    namespace = "fovea.android"
    compileSdk = 34
    ndkVersion = "27.2.12479018"

    defaultConfig {
        minSdk = 24
        consumerProguardFiles("proguard.txt")
        ndk { abiFilters += listOf("arm64-v8a", "armeabi-v7a", "x86_64") }
        externalNativeBuild {
            cmake {
                targets("fovea_jni")
                arguments("-DFOVEA_CACHE_DIR=${projectDir}/../../build/deps", "-DANDROID_STL=c++_static")
            }
        }
    }
    externalNativeBuild {
        cmake {
            path = file("CMakeLists.txt")
            version = "3.25.0+"
        }
    }
    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
    kotlinOptions { jvmTarget = "1.8" }
    sourceSets["main"].apply {
        manifest.srcFile("AndroidManifest.xml")
        java.setSrcDirs(listOf("java"))
        kotlin.setSrcDirs(listOf("kotlin"))
    }
    buildFeatures { prefabPublishing = true }
    prefab {
        create("fovea") { headers = "../../include" }
    }
}
