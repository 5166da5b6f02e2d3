import { helpLines, sentenceOf } from './terminal/own-command.ts';
import type { CommandEntry } from './terminal/io.ts';

type HelpLines = typeof helpLines;
type WrittenCommand = {
  [Heading in keyof HelpLines]: {
    [Name in keyof HelpLines[Heading]]: HelpLines[Heading][Name] extends string ? Name : never;
  }[keyof HelpLines[Heading]];
}[keyof HelpLines];

const loaders: Readonly<Record<WrittenCommand, CommandEntry['load']>> = {
  demo: async () => (await import('./local/demo.ts')).demoCommand,
  init: async () => (await import('./check/init.ts')).initCommand,
  check: async () => (await import('./check/check.ts')).checkCommand,
  rehearse: async () => (await import('./rehearse/rehearse.ts')).rehearseCommand,
  'test-call': async () => (await import('./start/test-call.ts')).testCallCommand,
  dev: async () => (await import('./local/dev.ts')).devCommand,
  run: async () => (await import('./start/start.ts')).runCommand,
  start: async () => (await import('./start/start.ts')).startCommand,
  status: async () => (await import('./watch/status.ts')).statusCommand,
  events: async () => (await import('./watch/events.ts')).eventsCommand,
  adjust: async () => (await import('./steer/adjust.ts')).adjustCommand,
  recover: async () => (await import('./steer/steer.ts')).recoverCommand,
  resolve: async () => (await import('./rows/resolve.ts')).resolveCommand,
  results: async () => (await import('./results/results.ts')).resultsCommand,
  evidence: async () => (await import('./results/evidence.ts')).evidenceCommand,
  report: async () => (await import('./results/report.ts')).reportCommand,
  callback: async () => (await import('./rows/callback.ts')).callbackCommand,
  add: async () => (await import('./rows/add.ts')).addCommand,
  update: async () => (await import('./rows/update.ts')).updateCommand,
  withdraw: async () => (await import('./rows/withdraw.ts')).withdrawCommand,
  retry: async () => (await import('./rows/retry.ts')).retryCommand,
  verify: async () => (await import('./watch/verify.ts')).verifyCommand,
  schedule: async () => (await import('./schedule/schedule.ts')).scheduleCommand,
  rules: async () => (await import('./steer/rules.ts')).rulesCommand,
  consent: async () => (await import('./suppress/consent.ts')).consentCommand,
  suppress: async () => (await import('./suppress/suppress.ts')).suppressCommand,
  agents: async () => (await import('./service/agents.ts')).agentsCommand,
  numbers: async () => (await import('./service/numbers.ts')).numbersCommand,
  conversations: async () => (await import('./service/conversations.ts')).conversationsCommand,
  sandbox: async () => (await import('./sandbox/sandbox.ts')).sandboxCommand,
  serve: async () => (await import('./serve/serve.ts')).serveCommand,
  token: async () => (await import('./serve/token.ts')).tokenCommand,
  webhook: async () => (await import('./serve/webhook.ts')).webhookCommand,
  worker: async () => (await import('./local/worker.ts')).workerCommand,
  backup: async () => (await import('./local/backup.ts')).backupCommand,
  doctor: async () => (await import('./local/doctor.ts')).doctorCommand,
  schema: async () => (await import('./check/init.ts')).schemaCommand,
  completion: async () => {
    const { completionCommand } = await import('./completion.ts');
    return (io) => completionCommand(io, commands);
  },
};

/** Ordered as in `carillon --help`. */
export const commands: readonly CommandEntry[] = Object.entries(helpLines).flatMap(([group, lines]) =>
  Object.entries(lines).map(([name, line]) =>
    typeof line === 'string'
      ? { name, group, summary: line, load: loaders[name as WrittenCommand] }
      : {
          name,
          group,
          summary: sentenceOf(line.plain),
          load: async () => (await import('./steer/steer.ts')).plainCommand(line.plain),
        },
  ),
);
