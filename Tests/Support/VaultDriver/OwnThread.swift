internal import Primitives

/// Runs a test with `processExitsWith` on a thread of its own.
///
/// The testing library reads the reports of that process with a call that blocks until the process ends. On threads of
/// the cooperative pool, which has one for each processor, a few long tests would stop all others.
package func onOwnThread(_ test: () async -> Void) async {
  await withTaskExecutorPreference(BackgroundThread(), operation: test)
}
