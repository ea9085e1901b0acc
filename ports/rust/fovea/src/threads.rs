//! Threads that share the work of a run.
use crate::error::{Error, Result};
use fovea_sys as sys;
use std::os::raw::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

const MOST: u32 = 64; // fovea_session_options.workers
const SPINS: u32 = 4000; // a few microseconds at a barrier, before a thread yields

/// Threads for sessions: `threads` of [`SessionOptions`](crate::SessionOptions) and [`RunOptions`](crate::RunOptions).
/// Clones are the same threads. Sessions may share them; while one runs the others wait. Results have the same bits for
/// any number.
#[derive(Clone)]
pub struct Threads {
    shared: Arc<Owner>,
}

/// Ends the threads when the last clone is dropped.
struct Owner {
    pool: Arc<Pool>,
    handles: Vec<JoinHandle<()>>,
}

pub(crate) struct Pool {
    count: u32,
    turn: Mutex<()>, // of the session that runs
    job: Mutex<Job>,
    work: Condvar,
    done: Condvar,
    arrived: AtomicU32, // barrier
    generation: AtomicU32,
}

#[derive(Default)]
struct Job {
    task: sys::fovea_task,
    context: usize, // a pointer, which only the task uses
    workers: u32,
    number: u64,
    left: u32, // threads that have not finished this job
    ends: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Threads {
    /// Starts threads; the thread that runs a session counts as one of them, so 1 starts none.
    pub fn new(count: u32) -> Result<Threads> {
        if count == 0 || count > MOST {
            return Err(Error::new(sys::FOVEA_E_OPTION, "threads", format!("{count}, and 1 to {MOST} are possible")));
        }
        let pool = Arc::new(Pool {
            count,
            turn: Mutex::default(),
            job: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
            arrived: AtomicU32::new(0),
            generation: AtomicU32::new(0),
        });
        let mut owner = Owner { pool: Arc::clone(&pool), handles: Vec::new() };
        for index in 1..count {
            let own = Arc::clone(&pool);
            let started = std::thread::Builder::new().name("fovea".into()).spawn(move || own.serve(index));
            // If one cannot be started, dropping `owner` ends those before it.
            owner.handles.push(started.map_err(|error| {
                Error::new(sys::FOVEA_E_OPTION, "threads", format!("cannot start {count} threads: {error}"))
            })?);
        }
        Ok(Threads { shared: Arc::new(owner) })
    }

    /// Their number.
    pub fn count(&self) -> u32 {
        self.shared.pool.count
    }

    /// The context of the runner: valid as long as `self`.
    pub(crate) fn context(&self) -> *mut c_void {
        Arc::as_ptr(&self.shared.pool) as *mut c_void
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        locked(&self.pool.job).ends = true;
        self.pool.work.notify_all();
        for handle in self.handles.drain(..) {
            let _ = handle.join();
        }
    }
}

impl Pool {
    fn serve(&self, index: u32) {
        let mut last = 0;
        let mut job = locked(&self.job);
        loop {
            while job.number == last && !job.ends {
                job = self.work.wait(job).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            if job.ends {
                return;
            }
            last = job.number;
            let (task, context, workers) = (job.task, job.context, job.workers);
            drop(job);
            self.share(task, context, workers, index);
            job = locked(&self.job);
            job.left -= 1;
            if job.left == 0 {
                self.done.notify_one();
            }
        }
    }

    /// Runs the tasks of one thread.
    fn share(&self, task: sys::fovea_task, context: usize, workers: u32, index: u32) {
        if let Some(task) = task {
            for worker in (index..workers).step_by(self.count as usize) {
                // SAFETY: the library's task, with its context, during the runner's call.
                unsafe { task(context as *mut c_void, worker) };
            }
        }
    }

    fn run(&self, workers: u32, task: sys::fovea_task, context: *mut c_void) {
        let _turn = locked(&self.turn);
        let mut job = locked(&self.job);
        job.task = task;
        job.context = context as usize;
        job.workers = workers;
        job.number += 1;
        job.left = self.count - 1;
        drop(job);
        self.work.notify_all();
        self.share(task, context as usize, workers, 0);
        let mut job = locked(&self.job);
        while job.left != 0 {
            job = self.done.wait(job).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn wait(&self, workers: u32) {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == workers {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// The `fovea_runner` whose context is [`Threads::context`].
pub(crate) unsafe extern "C" fn run(
    context: *mut c_void,
    workers: u32,
    task: sys::fovea_task,
    task_context: *mut c_void,
) {
    // SAFETY: the session holds its threads while it runs.
    let pool = unsafe { &*(context as *const Pool) };
    pool.run(workers, task, task_context);
}

/// The `fovea_barrier` of this runner, for as many workers as there are threads.
pub(crate) unsafe extern "C" fn barrier(context: *mut c_void, workers: u32) {
    // SAFETY: as above.
    let pool = unsafe { &*(context as *const Pool) };
    pool.wait(workers);
}
