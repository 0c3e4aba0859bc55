"use strict";
// A reporter of `node --test`, whose other reporters tell only of tests that have an outcome. It writes JSON:
//
// - `not_run`: the tests that were to run and have no outcome, each with its file, as in [file, name];
// - `silent`: the files that ended without telling of any test, which Node counts as a test that passed.

const { resolve } = require("node:path");

const MOST = 200; // names of one list

module.exports = async function* outcomes(source) {
  const open = new Map();
  const silent = [];
  for await (const { type, data } of source) {
    if (!data?.file || !["test:enqueue", "test:pass", "test:fail"].includes(type)) continue;
    if (resolve(data.name) === data.file) {
      if (type === "test:pass") silent.push(data.file);
      continue;
    }
    const key = JSON.stringify([data.file, data.name, data.nesting, data.line, data.column]);
    open.set(key, (open.get(key) ?? 0) + (type === "test:enqueue" ? 1 : -1));
  }
  const left = [...open].filter(([, count]) => count > 0).map(([key]) => JSON.parse(key).slice(0, 2));
  yield JSON.stringify({ not_run: left.slice(0, MOST), silent: silent.slice(0, MOST) });
};
