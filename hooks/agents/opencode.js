// Asks ahp before and after every tool call of opencode. `ahp install opencode` made this file and renews it;
// `ahp uninstall opencode` removes it.
import { spawn } from "node:child_process"

const COMMANDS = @COMMANDS@
const TIMEOUT = @TIMEOUT@ // ms for one event, above the budget that ahp keeps itself
const LOST = @LOST@

// What the gate answers: an object with `decision` and `reason`, `args`, `additionalContext`. opencode runs a tool unless
// this plugin throws, so whatever is no answer is a refusal.
function ask(event, where, payload) {
  return new Promise((resolve) => {
    const lost = { decision: "deny", reason: LOST }
    const child = spawn("/bin/sh", ["-c", COMMANDS[event]], { cwd: where, detached: true })
    const timer = setTimeout(() => {
      try {
        process.kill(-child.pid, "SIGKILL")
      } catch {}
      resolve(lost)
    }, TIMEOUT)
    let shown = ""
    child.stdout.setEncoding("utf8").on("data", (part) => (shown += part))
    child.stderr.resume()
    child.stdin.on("error", () => {}) // it ended without reading all: its status tells
    child.on("error", () => resolve(lost))
    child.on("close", (code) => {
      clearTimeout(timer)
      try {
        const answer = shown.trim() ? JSON.parse(shown) : {}
        if (code === 0) return resolve(answer)
        if (code === 2 && answer.decision === "deny" && answer.reason) return resolve(answer)
      } catch {}
      resolve(lost)
    })
    child.stdin.end(JSON.stringify({ hook_event_name: event, cwd: where, ...payload }))
  })
}

export const Ahp = async ({ directory, worktree }) => {
  const root = worktree && worktree !== "/" ? worktree : directory
  const briefs = new Map() // session -> what it is told at its start, in each of its requests
  const untold = new Map() // session -> words that wait for the result of its next tool

  const call = (input, args) => ({
    session_id: input.sessionID,
    cwd: directory,
    tool_name: input.tool,
    tool_use_id: input.callID,
    tool_input: args,
  })

  return {
    "tool.execute.before": async (input, output) => {
      const answer = await ask("tool.execute.before", root, call(input, output.args))
      if (answer.decision === "deny") throw new Error(answer.reason)
      if (answer.args) {
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, answer.args)
      }
      if (answer.additionalContext) {
        untold.set(input.sessionID, [...(untold.get(input.sessionID) ?? []), answer.additionalContext])
      }
    },
    "tool.execute.after": async (input, output) => {
      const told = typeof output.output === "string" ? output.output : JSON.stringify(output.content ?? "")
      const answer = await ask("tool.execute.after", root, { ...call(input, input.args), tool_response: told })
      const said = [...(untold.get(input.sessionID) ?? []), answer.additionalContext ?? ""].filter(Boolean).join("\n")
      untold.delete(input.sessionID)
      if (said && typeof output.output === "string") output.output += "\n\n" + said
      else if (said && Array.isArray(output.content)) output.content.push({ type: "text", text: said }) // of an MCP server
    },
    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text")
      const answer = await ask("chat.message", root, {
        session_id: input.sessionID,
        prompt_id: input.messageID,
        prompt: texts.map((part) => part.text).join("\n"),
      })
      if (answer.decision === "deny") throw new Error(answer.reason)
      if (answer.additionalContext && texts.length) texts.at(-1).text += "\n\n" + answer.additionalContext
    },
    "experimental.chat.system.transform": async (input, output) => {
      if (!input.sessionID) return
      if (!briefs.has(input.sessionID)) {
        const payload = { session_id: input.sessionID }
        briefs.set(input.sessionID, ask("experimental.chat.system.transform", root, payload))
      }
      const answer = await briefs.get(input.sessionID)
      if (answer.additionalContext) output.system.push(answer.additionalContext)
    },
  }
}
