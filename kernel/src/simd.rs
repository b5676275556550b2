//! Runs a kernel compiled for the widest vectors that the processor has.
//!
//! The binary stays baseline x86-64 (or aarch64, whose baseline has NEON): a kernel is written once, in safe Rust
//! that the compiler vectorises, and compiled again for each [`Level`]. The processor is asked at run time. This is the
//! crate's only file with `unsafe`.
#![allow(unsafe_code)]

/// A loop that can be compiled for several instruction sets.
///
/// `run` and all that it calls in its loops must be `#[inline(always)]`: code that is not inlined into the function
/// of a level keeps the baseline's instructions (right, but slow).
pub trait Kernel {
    /// What the loop returns.
    type Output;
    /// Runs the loop.
    fn run(self) -> Self::Output;
}

/// A set of instructions that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every processor of the target has.
    Baseline,
    /// 256-bit vectors of x86-64-v3.
    Avx2,
    /// 512-bit vectors of x86-64-v4.
    Avx512,
}

impl Level {
    /// Every level, also those that this processor or target lacks.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// Whether this processor has the level's instructions. The answer is cached by the standard library.
    #[must_use]
    #[inline]
    pub fn is_available(self) -> bool {
        match self {
            Self::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// The widest available level.
    #[must_use]
    #[inline]
    pub fn best() -> Self {
        match () {
            () if Self::Avx512.is_available() => Self::Avx512,
            () if Self::Avx2.is_available() => Self::Avx2,
            () => Self::Baseline,
        }
    }
}

/// Runs `kernel` with the instructions of `level`, or of the baseline when the processor lacks them.
#[inline]
pub fn run_at<K: Kernel>(level: Level, kernel: K) -> K::Output {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if level.is_available() => {
            // SAFETY: the processor has every feature that the function enables, as was just checked.
            unsafe { avx512(kernel) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if level.is_available() => {
            // SAFETY: the processor has every feature that the function enables, as was just checked.
            unsafe { avx2(kernel) }
        }
        _ => kernel.run(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
