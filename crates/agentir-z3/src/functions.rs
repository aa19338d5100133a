//! The functions of Z3's C interface that are called.
//!
//! The compiler holds their types to the declarations in `z3-sys`. The linker holds the list to what the
//! program calls: a function that is called and not in the list is an undefined symbol.

use crate::library::functions;
use libloading::Library;
use std::ffi::{c_int, c_uint};
use std::process::abort;
use z3_sys::*;

/// What a function returns before the library is loaded.
macro_rules! unloaded {
    ($value:expr) => {
        $value
    };
    // It takes what only another function returns that is in the library.
    () => {
        abort()
    };
}

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty $(= $unloaded:expr)?)?;)*) => {
        /// The functions of a library.
        #[allow(non_snake_case, reason = "they are called as in C")]
        pub(crate) struct Functions {
            $($name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Takes the functions out of a library, which is Z3's if it has all of them.
            ///
            /// # Errors
            /// The name of a function that it lacks.
            ///
            /// # Safety
            /// None of them may be called once the library has been unloaded.
            #[allow(unsafe_code, reason = "what a symbol is cannot be checked")]
            pub(crate) unsafe fn of(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        // SAFETY: The type is that of the declaration in `z3-sys`, below.
                        let symbol = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                        *symbol.map_err(|_| stringify!($name))?
                    },)*
                })
            }
        }

        $(
            // SAFETY: Nothing else has this name, unless the program is linked with Z3 after all, where the
            // linker takes one of them; this one does what the other does.
            #[allow(unsafe_code, reason = "it stands for the function in the library")]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
                match functions() {
                    // SAFETY: The caller keeps to what Z3 wants of the same function.
                    Some(functions) => unsafe { (functions.$name)($($argument),*) },
                    None => unloaded!($($($unloaded)?)?),
                }
            }

            const _: unsafe extern "C" fn($($type),*) $(-> $result)? = z3_sys::$name;
        )*
    };
}

functions! {
    fn Z3_ast_to_string(c: Z3_context, a: Z3_ast) -> Z3_string;
    fn Z3_ast_vector_dec_ref(c: Z3_context, v: Z3_ast_vector);
    fn Z3_ast_vector_get(c: Z3_context, v: Z3_ast_vector, i: c_uint) -> Option<Z3_ast>;
    fn Z3_ast_vector_inc_ref(c: Z3_context, v: Z3_ast_vector);
    fn Z3_ast_vector_size(c: Z3_context, v: Z3_ast_vector) -> c_uint;
    fn Z3_dec_ref(c: Z3_context, a: Z3_ast);
    fn Z3_del_config(c: Z3_config);
    fn Z3_del_context(c: Z3_context);
    fn Z3_func_decl_to_ast(c: Z3_context, f: Z3_func_decl) -> Option<Z3_ast>;
    fn Z3_get_app_arg(c: Z3_context, a: Z3_app, i: c_uint) -> Option<Z3_ast>;
    fn Z3_get_app_decl(c: Z3_context, a: Z3_app) -> Option<Z3_func_decl>;
    fn Z3_get_app_num_args(c: Z3_context, a: Z3_app) -> c_uint;
    fn Z3_get_ast_id(c: Z3_context, t: Z3_ast) -> c_uint;
    fn Z3_get_ast_kind(c: Z3_context, a: Z3_ast) -> Z3_ast_kind;
    fn Z3_get_bool_value(c: Z3_context, a: Z3_ast) -> Z3_lbool;
    fn Z3_get_numeral_decimal_string(c: Z3_context, a: Z3_ast, precision: c_uint) -> Z3_string;
    fn Z3_get_numeral_int64(c: Z3_context, v: Z3_ast, i: *mut i64) -> bool;
    fn Z3_get_numeral_small(c: Z3_context, a: Z3_ast, num: *mut i64, den: *mut i64) -> bool;
    fn Z3_get_sort(c: Z3_context, a: Z3_ast) -> Option<Z3_sort>;
    fn Z3_get_sort_kind(c: Z3_context, t: Z3_sort) -> Z3_sort_kind;
    fn Z3_get_string(c: Z3_context, s: Z3_ast) -> Z3_string;
    fn Z3_inc_ref(c: Z3_context, a: Z3_ast);
    fn Z3_is_eq_sort(c: Z3_context, s1: Z3_sort, s2: Z3_sort) -> bool;
    fn Z3_mk_add(c: Z3_context, num_args: c_uint, args: *const Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_and(c: Z3_context, num_args: c_uint, args: *const Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_app(c: Z3_context, d: Z3_func_decl, num_args: c_uint, args: *const Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_bool_sort(c: Z3_context) -> Option<Z3_sort>;
    fn Z3_mk_config() -> Option<Z3_config> = None;
    fn Z3_mk_const(c: Z3_context, s: Z3_symbol, ty: Z3_sort) -> Option<Z3_ast>;
    fn Z3_mk_context_rc(c: Z3_config) -> Option<Z3_context>;
    fn Z3_mk_div(c: Z3_context, arg1: Z3_ast, arg2: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_eq(c: Z3_context, l: Z3_ast, r: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_false(c: Z3_context) -> Option<Z3_ast>;
    fn Z3_mk_fresh_const(c: Z3_context, prefix: Z3_string, ty: Z3_sort) -> Option<Z3_ast>;
    fn Z3_mk_func_decl(c: Z3_context, s: Z3_symbol, domain_size: c_uint, domain: *const Z3_sort, range: Z3_sort) -> Option<Z3_func_decl>;
    fn Z3_mk_ge(c: Z3_context, t1: Z3_ast, t2: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_gt(c: Z3_context, t1: Z3_ast, t2: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_int2real(c: Z3_context, t1: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_int64(c: Z3_context, v: i64, ty: Z3_sort) -> Option<Z3_ast>;
    fn Z3_mk_int_sort(c: Z3_context) -> Option<Z3_sort>;
    fn Z3_mk_int_symbol(c: Z3_context, i: c_int) -> Option<Z3_symbol>;
    fn Z3_mk_is_int(c: Z3_context, t1: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_ite(c: Z3_context, t1: Z3_ast, t2: Z3_ast, t3: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_le(c: Z3_context, t1: Z3_ast, t2: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_lt(c: Z3_context, t1: Z3_ast, t2: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_mul(c: Z3_context, num_args: c_uint, args: *const Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_not(c: Z3_context, a: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_numeral(c: Z3_context, numeral: Z3_string, ty: Z3_sort) -> Option<Z3_ast>;
    fn Z3_mk_or(c: Z3_context, num_args: c_uint, args: *const Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_params(c: Z3_context) -> Option<Z3_params>;
    fn Z3_mk_real_sort(c: Z3_context) -> Option<Z3_sort>;
    fn Z3_mk_seq_contains(c: Z3_context, container: Z3_ast, containee: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_seq_length(c: Z3_context, s: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_seq_prefix(c: Z3_context, prefix: Z3_ast, s: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_seq_suffix(c: Z3_context, suffix: Z3_ast, s: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_solver(c: Z3_context) -> Option<Z3_solver>;
    fn Z3_mk_str_lt(c: Z3_context, prefix: Z3_ast, s: Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_string(c: Z3_context, s: Z3_string) -> Option<Z3_ast>;
    fn Z3_mk_string_sort(c: Z3_context) -> Option<Z3_sort>;
    fn Z3_mk_string_symbol(c: Z3_context, s: Z3_string) -> Option<Z3_symbol>;
    fn Z3_mk_sub(c: Z3_context, num_args: c_uint, args: *const Z3_ast) -> Option<Z3_ast>;
    fn Z3_mk_true(c: Z3_context) -> Option<Z3_ast>;
    fn Z3_mk_unary_minus(c: Z3_context, arg: Z3_ast) -> Option<Z3_ast>;
    fn Z3_model_dec_ref(c: Z3_context, m: Z3_model);
    fn Z3_model_eval(c: Z3_context, m: Z3_model, t: Z3_ast, model_completion: bool, v: *mut Z3_ast) -> bool;
    fn Z3_model_inc_ref(c: Z3_context, m: Z3_model);
    fn Z3_params_dec_ref(c: Z3_context, p: Z3_params);
    fn Z3_params_inc_ref(c: Z3_context, p: Z3_params);
    fn Z3_params_set_bool(c: Z3_context, p: Z3_params, k: Z3_symbol, v: bool);
    fn Z3_params_set_uint(c: Z3_context, p: Z3_params, k: Z3_symbol, v: c_uint);
    fn Z3_set_error_handler(c: Z3_context, h: Z3_error_handler);
    fn Z3_solver_assert(c: Z3_context, s: Z3_solver, a: Z3_ast);
    fn Z3_solver_check(c: Z3_context, s: Z3_solver) -> Z3_lbool;
    fn Z3_solver_dec_ref(c: Z3_context, s: Z3_solver);
    fn Z3_solver_from_string(c: Z3_context, s: Z3_solver, str_: Z3_string);
    fn Z3_solver_get_assertions(c: Z3_context, s: Z3_solver) -> Option<Z3_ast_vector>;
    fn Z3_solver_get_model(c: Z3_context, s: Z3_solver) -> Option<Z3_model>;
    fn Z3_solver_get_statistics(c: Z3_context, s: Z3_solver) -> Option<Z3_stats>;
    fn Z3_solver_inc_ref(c: Z3_context, s: Z3_solver);
    fn Z3_solver_set_params(c: Z3_context, s: Z3_solver, p: Z3_params);
    fn Z3_sort_to_ast(c: Z3_context, s: Z3_sort) -> Option<Z3_ast>;
    fn Z3_sort_to_string(c: Z3_context, s: Z3_sort) -> Z3_string;
    fn Z3_stats_dec_ref(c: Z3_context, s: Z3_stats);
    fn Z3_stats_get_double_value(c: Z3_context, s: Z3_stats, idx: c_uint) -> f64;
    fn Z3_stats_get_key(c: Z3_context, s: Z3_stats, idx: c_uint) -> Z3_string;
    fn Z3_stats_get_uint_value(c: Z3_context, s: Z3_stats, idx: c_uint) -> c_uint;
    fn Z3_stats_inc_ref(c: Z3_context, s: Z3_stats);
    fn Z3_stats_is_uint(c: Z3_context, s: Z3_stats, idx: c_uint) -> bool;
    fn Z3_stats_size(c: Z3_context, s: Z3_stats) -> c_uint;
    fn Z3_substitute(c: Z3_context, a: Z3_ast, num_exprs: c_uint, from: *const Z3_ast, to: *const Z3_ast) -> Option<Z3_ast>;
    fn Z3_to_app(c: Z3_context, a: Z3_ast) -> Option<Z3_app>;
}
