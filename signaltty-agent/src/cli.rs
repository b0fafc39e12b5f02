//! The command line (specs/020 §2). One file a group of commands; this one names them all.

mod answer;
mod ask;
mod attach;
mod daemon;
mod decisions;
mod events;
mod failure;
mod find;
mod host;
mod integrations;
mod log;
mod panes;
mod show;
mod terminal;
mod values;
mod watch;

use std::ffi::OsString;
use std::future::Future;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use failure::Failure;

/// Run AI coding agents in panes, and answer what they ask.
#[derive(Debug, Parser)]
#[command(name = "signaltty", version, propagate_version = true, max_term_width = 110, after_help = EXIT_CODES)]
struct Arguments {
    /// Print one JSON document whose members are the protocol's
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 failed (ask: refused), 2 usage, 3 no such pane or decision, 4 timed out, 5 forbidden,
6 ask could not ask.

A PANE is named by its id, the beginning of its id, or its title.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the host in the foreground, stop it, or take over from the running one
    Daemon(daemon::Daemon),
    /// Open a pane and run a command in it
    New(panes::New),
    /// List the panes, those that need you first
    Ls,
    /// Print what a pane's terminal shows
    Read(panes::Read),
    /// Type text into a pane
    Send(panes::Send),
    /// Show a pane's terminal here and type into it; Ctrl+\ detaches
    Attach(attach::Attach),
    /// End a pane's program and forget the pane
    Close(panes::Close),
    /// Send a signal to the program in the foreground of a pane
    Signal(panes::SignalPane),
    /// Wait until a pane's agent is in a state
    Wait(panes::Wait),
    /// Show what is being asked
    Decisions(decisions::List),
    /// Answer what is being asked
    Answer(answer::Answer),
    /// Show decisions as they come and answer them by typing
    Watch,
    /// Ask a human from a script: `signaltty ask "Deploy?" && ./deploy`
    Ask(ask::Ask),
    /// Report what an agent's hook says; its payload comes on standard input
    Hook(Hook),
    /// Put our hook into an agent's configuration, take it out, or see how it stands
    #[command(subcommand)]
    Integration(integrations::Integrations),
    /// Search what was asked and who answered it, or forget it
    Log(log::Log),
    /// Print what happens, as it happens
    Events,
    /// Print the schema of the protocol
    Schema,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// What the host starts to hold the panes
    #[command(hide = true)]
    Keeper,
}

/// Explained here, carried out before the command line is read (see [`crate::hook`]).
#[derive(Debug, clap::Args)]
struct Hook {
    /// The agent that it speaks for
    agent: String,
    /// The vendor's name of the event, where the payload does not say
    event: Option<String>,
}

/// How the result is printed.
#[derive(Debug, Clone, Copy)]
struct Output {
    /// One JSON document, for programs.
    json: bool,
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    run_arguments(std::env::args_os())
}

fn run_arguments(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no errors, and go to standard output.
            let code = if error.use_stderr() {
                failure::USAGE
            } else {
                0
            };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let output = Output {
        json: arguments.json,
    };
    match dispatch(arguments.command, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.code)
        }
    }
}

fn dispatch(command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Daemon(daemon) => daemon.run(),
        Command::New(new) => wait_for(new.run(output)),
        Command::Ls => wait_for(panes::list(output)),
        Command::Read(read) => wait_for(read.run(output)),
        Command::Send(send) => wait_for(send.run(output)),
        Command::Attach(attach) => wait_for(attach.run()),
        Command::Close(close) => wait_for(close.run(output)),
        Command::Signal(signal) => wait_for(signal.run(output)),
        Command::Wait(wait) => wait_for(wait.run(output)),
        Command::Decisions(list) => wait_for(list.run(output)),
        Command::Answer(answer) => wait_for(answer.run(output)),
        Command::Watch => wait_for(watch::run(output)),
        Command::Ask(ask) => ask.run(output),
        Command::Hook(hook) => {
            crate::hook::run(&crate::hook::Invocation {
                agent: hook.agent,
                event: hook.event,
            });
            Ok(())
        }
        Command::Integration(integration) => integration.run(output),
        Command::Log(log) => wait_for(log.run(output)),
        Command::Events => wait_for(events::run(output)),
        Command::Schema => show::json(&signaltty_core::protocol::schema::document()),
        Command::Completions { shell } => {
            clap_complete::generate(
                shell,
                &mut Arguments::command(),
                "signaltty",
                &mut std::io::stdout(),
            );
            Ok(())
        }
        // Carried out before the command line is read; reached only with further words.
        Command::Keeper => Err(Failure::usage("the host starts the keeper by itself")),
    }
}

/// Runs a command that speaks to the host, on this thread.
fn wait_for(command: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot wait for the host: {error}")))?;
    let result = runtime.block_on(command);
    // A thread that still reads the terminal must not hold up the end.
    runtime.shutdown_background();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    fn parse(words: &[&str]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(std::iter::once("signaltty").chain(words.iter().copied()))
    }

    #[test]
    fn json_is_taken_everywhere() {
        for words in [
            &["--json", "ls"][..],
            &["ls", "--json"],
            &["integration", "status", "--json"],
        ] {
            assert!(
                parse(words).is_ok_and(|arguments| arguments.json),
                "{words:?}"
            );
        }
    }

    #[test]
    fn wrong_usage_has_its_own_exit_code() {
        for words in [
            &[][..],
            &["nonsense"],
            &["read"],
            &["answer"],
            &["new"],
            &["new", "--size", "wide", "--", "a"],
        ] {
            let error = parse(words).expect_err("usage");
            assert!(error.exit_code() == i32::from(failure::USAGE), "{words:?}");
        }
    }
}
