//! Cancelling runs from other threads.
use fovea_sys as sys;
use std::sync::{Arc, Mutex};

/// Cancels the runs of a session or a generation, from any thread. Clones cancel the same one. When that is dropped,
/// cancelling does nothing.
#[derive(Clone)]
pub struct Canceller {
    sessions: Arc<Mutex<Vec<Handle>>>,
}

struct Handle(*mut sys::fovea_session);

// SAFETY: fovea_session_cancel may be called from any thread, and is the only use of this address; the owner of the
// session empties the list, under its lock, before the memory is freed.
unsafe impl Send for Handle {}

impl Canceller {
    pub(crate) fn new(session: *mut sys::fovea_session) -> Canceller {
        Canceller { sessions: Arc::new(Mutex::new(vec![Handle(session)])) }
    }

    /// Cancels the run in progress, or the next one if there is none: it returns an error of
    /// [`Kind::Cancelled`](crate::Kind), and the session is ready for another run.
    pub fn cancel(&self) {
        let sessions = self.sessions.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for Handle(session) in sessions.iter() {
            // SAFETY: the session lives as long as it is in the list.
            unsafe { sys::fovea_session_cancel(*session) }
        }
    }

    pub(crate) fn forget(&self) {
        self.sessions.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
    }
}
