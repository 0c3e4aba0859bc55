#!/usr/bin/env node
"use strict";
// Two things in one file, since they know each other. As the shell of `npm test` it has `node --test` and mocha in a
// script use the reporter below. That of node is in the process that starts the tests' processes, so a test that ends
// its own does not end it. Each appends lines of JSON to `record`, beside the folder of this file:
//
// - `begun`: how many reporters a command of a script has; each of them writes one line of the next kind;
// - `passed` and `skipped`: how many tests came to that; `failed`: the tests that did not, and the files that
//   could not be loaded, [file, line, name, message, whether it is a file];
// - `not_run`: the tests that were registered, or stand in a file by name, and have no outcome, [file, name].

const { appendFileSync, readFileSync } = require("node:fs");
const { dirname, join, resolve } = require("node:path");

const MOST = 200; // names of one list
// A test by a name that is written there, else what only looks like one: another string, a comment.
const TOKENS = /(?<![.\w$])(?:it|test)\(\s*(["'`])((?:(?!\1)[^\\\n$])+)\1\s*,|(["'`])(?:\\[^]|(?!\3)[^\\])*?\3|\/\/.*|\/\*[^]*?\*\//g;

const note = (told) => appendFileSync(join(dirname(__dirname), "record"), `${JSON.stringify(told)}\n`);

function shell([flag, command, ...rest]) {
  const { spawnSync } = require("node:child_process");
  const [major, minor] = process.versions.node.split(".").map(Number);
  const env = { ...process.env };
  let begun = 0;
  let used = command.replace(/(?<=(?:^|[\s"'/(])(?:node|tsx)(?:\s[^&|;]*?)?\s)--test(?=[\s"')]|$)(?=([^&|;]*))/g, (found, after) => {
    begun += 1;
    const own = /--test-reporter[ =]/.test(command);
    const others = own ? (/--test-reporter-destination/.test(command) ? "" : "--test-reporter-destination=stdout ") : SPEC;
    return `--test-reporter=${__filename} --test-reporter-destination=stdout ${others}${found}`;
  });
  // Where a script is called mocha too, the word is the program only at the beginning of a command.
  const script = /"scripts"\s*:\s*\{[^}]*"mocha"\s*:/.test(text(process.env.npm_package_json ?? "package.json"));
  const mocha = script ? /(?<=(?:^|[&|;])\s*mocha)(?=\s|$)[^&|;]*/g : /(?<=(?:^|[\s"'/(])mocha)(?=\s|$)[^&|;]*/g;
  const other = /\s(?:-R|--reporter)[\s=]\S+/g;
  used = used.replace(mocha, (words) => ((begun += 1), ` --reporter ${__filename}${words.replace(other, "")}`));
  const known = begun && (major > 18 || (major === 18 && minor > 16));
  if (known) {
    note({ begun });
    delete env.npm_config_script_shell; // tests that start npm themselves are not the project's
  }
  const ran = spawnSync("sh", [flag, known ? used : command, ...rest], { stdio: "inherit", env });
  process.exitCode = ran.status ?? 1;
}
const SPEC = "--test-reporter=spec --test-reporter-destination=stdout ";

async function* reporter(source) {
  const open = new Map();
  const names = new Set();
  const files = new Set();
  const told = { passed: 0, skipped: 0, failed: [], not_run: [] };
  let partly = process.execArgv.some((word) => /^--test-(?:only|name|skip|shard)/.test(word));
  for await (const { type, data } of source) {
    if (!data?.file || !["test:enqueue", "test:pass", "test:fail"].includes(type)) continue;
    const { file, name, line } = data;
    const whole = resolve(name) === file;
    if (whole) files.add(file);
    else names.add(`${file}\0${name}`);
    const key = JSON.stringify([file, name, data.nesting, line, data.column]);
    open.set(key, (open.get(key) ?? 0) + (type === "test:enqueue" ? 1 : -1));
    if (type === "test:enqueue") continue;
    const aside = data.skip !== undefined || data.todo !== undefined;
    partly ||= data.skip !== undefined;
    const error = data.details?.error;
    if (type === "test:fail" && !aside && error?.failureType !== "subtestsFailed")
      told.failed.push([file, line ?? 0, name, String(error?.cause?.stack ?? error?.message), whole]);
    else if (aside) told.skipped += 1;
    else if (whole && /["'](?:node:)?test["']/.test(text(file))) told.not_run.push([file, "its tests"]);
    else if (type === "test:pass" && data.details?.type !== "suite") told.passed += 1;
  }
  for (const [key, count] of open) {
    const [file, name] = JSON.parse(key);
    if (count > 0 && resolve(name) !== file) told.not_run.push([file, name]);
  }
  if (names.size && !partly)
    for (const file of files)
      for (const [, , name] of text(file).matchAll(TOKENS))
        if (name && !names.has(`${file}\0${name}`)) told.not_run.push([file, name]);
  write(told);
}

// In the tests' process, so what counts is what mocha had found before any of them ran.
function ofMocha(runner) {
  const told = { passed: 0, skipped: 0, failed: [], not_run: [] };
  const left = new Map();
  const tests = (suite) => [...suite.tests, ...suite.suites.flatMap(tests)];
  const ended = (test) => left.delete(test);
  runner.once("start", () => tests(runner.suite).forEach((test) => runner._grep.test(test.fullTitle()) && left.set(test, 1)));
  runner.on("pass", (test) => ended(test) && (told.passed += 1));
  runner.on("pending", (test) => ended(test) && (told.skipped += 1));
  runner.on("fail", (test, error) => {
    ended(test);
    console.log(`not ok ${test.fullTitle()}\n${error?.stack ?? error}`);
    const at = /[( ]([^\s():]+):(\d+):\d+\)?$/m.exec(error?.stack ?? "");
    const place = at ? [resolve(at[1]), Number(at[2])] : [test.file ?? process.cwd(), 0];
    told.failed.push([...place, test.fullTitle(), String(error?.stack ?? error), false]);
  });
  process.once("exit", () => {
    for (const test of left.keys()) told.not_run.push([test.file ?? process.cwd(), test.title]);
    write(told);
  });
}

function write(told) {
  note({ ...told, failed: told.failed.slice(0, MOST), not_run: told.not_run.slice(0, MOST) });
}

function text(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

if (require.main === module) shell(process.argv.slice(2));
// Node makes a reporter by `new` without arguments, mocha with its runner.
module.exports = function (runner) {
  return runner ? ofMocha(runner) : reporter;
};
