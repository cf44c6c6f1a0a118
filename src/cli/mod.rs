//! Placeholder: see the module map.
