//! Functions that say something: the log, and `fail`.

use setpoint_puppet_values::{Value, to_text};

use crate::context::Context;
use crate::function::{Dispatch, Function, repeated};
use crate::ruby;
use crate::{FailureKind, LogLevel, Stop};

macro_rules! log_function {
    ($name:literal, $level:expr) => {
        Function::typed(
            $name,
            &[Dispatch::new(&[repeated("Any", "values")], |context, arguments| {
                Ok(log(context, $level, arguments))
            })],
        )
        .passing_unknown()
    };
}

pub(super) static DEBUG: Function = log_function!("debug", LogLevel::Debug);
pub(super) static INFO: Function = log_function!("info", LogLevel::Info);
pub(super) static NOTICE: Function = log_function!("notice", LogLevel::Notice);
pub(super) static WARNING: Function = log_function!("warning", LogLevel::Warning);
pub(super) static ERR: Function = log_function!("err", LogLevel::Err);
pub(super) static ALERT: Function = log_function!("alert", LogLevel::Alert);
pub(super) static CRIT: Function = log_function!("crit", LogLevel::Crit);
pub(super) static EMERG: Function = log_function!("emerg", LogLevel::Emerg);
pub(super) static FAIL: Function = Function::counted("fail", -1, fail);

fn log(context: &mut Context<'_, '_>, level: LogLevel, values: &[Value]) -> Value {
    let texts: Vec<_> = values.iter().map(to_text).collect();
    let span = context.span();
    context.host.log(level, texts.join(" "), span);
    Value::UNDEF
}

fn fail(context: &mut Context<'_, '_>, values: &[Value]) -> Result<Value, Stop> {
    let texts: Vec<String> = values.iter().map(ruby::text::to_s).collect();
    Err(FailureKind::FailCalled(texts.join(" ")).at(context.span()))
}
