internal import Dispatch

/// Lanes that perform jobs in the order in which they were handed over, and a way to wait until none is left.
///
/// The control thread hands over and waits. Each lane has a worker of its own, which no other thread touches.
final class LanePool<Job: Sendable>: Sendable {
  private let queue: JobQueue<Job>
  private let jobs: DispatchGroup
  private let lanes: Lanes

  /// Starts the lanes.
  ///
  /// - Parameters:
  ///   - profile: measures the lanes.
  ///   - makeWorker: called once a lane, on the calling thread, with the lane's part of the profile; the result runs on the lane.
  init(
    laneCount: Int, label: String, profile: RunProfile? = nil,
    makeWorker: (LaneProfile?) throws(ArchiveError) -> (Job) -> Void
  ) throws(ArchiveError) {
    var workers: [(lane: LaneProfile?, perform: Handoff<(Job) -> Void>)] = []
    for _ in 0..<laneCount {
      let lane = profile?.addLane()
      workers.append((lane, Handoff(try makeWorker(lane))))
    }
    let (queue, jobs, ready) = (JobQueue<Job>(), DispatchGroup(), workers)
    self.queue = queue
    self.jobs = jobs
    lanes = Lanes(count: laneCount, label: label) { lane in
      let (profile, perform) = ready[lane]
      profile.run(queue.pop) { job in
        perform.value(job)
        jobs.leave()
      }
    }
  }

  /// Hands a job over. The control thread only.
  func enqueue(_ job: Job) {
    jobs.enter()
    queue.push(job)
  }

  /// Waits until all jobs that were handed over are done. The control thread only.
  func wait() { jobs.wait() }

  /// Waits for all jobs and ends the lanes. Must be called before the pool is released.
  func end() {
    queue.close()
    lanes.join()
  }
}
