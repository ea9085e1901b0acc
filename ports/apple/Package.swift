// swift-tools-version:5.7
// fovea's C interface as a Swift package: `import CFovea`. xcframework.sh makes its binary target.
import PackageDescription

let package = Package(
  name: "fovea",
  platforms: [.iOS(.v13), .macOS(.v11)],
  products: [.library(name: "CFovea", targets: ["CFovea"])],
  targets: [.binaryTarget(name: "CFovea", path: "CFovea.xcframework")]
)
