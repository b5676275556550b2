//! Panics on demand, so that tests can show what becomes of one in each callback.
//!
//! Only the feature `fault-injection` has them, which no released file is built with; else [`point`] is nothing.

/// Panics when the environment variable `TIME_BUCKET_FAULT` names this callback.
#[cfg(feature = "fault-injection")]
pub(crate) fn point(callback: &str) {
    assert!(std::env::var("TIME_BUCKET_FAULT").as_deref() != Ok(callback), "fault injected into {callback}");
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub(crate) const fn point(_: &str) {}
