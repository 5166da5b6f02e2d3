import { setTimeout as sleep } from 'node:timers/promises';
import { campaignRules, readCampaignFile } from '../src/campaign/file/file.ts';
import { readHeader } from '../src/campaign/file/columns-of-rules.ts';
import { readRecipients } from '../src/list/recipients.ts';
import { recipientFields } from '../src/rules/columns.ts';
import { withOpeningLine } from '../src/rules/conversation-override.ts';
import { compileTemplates } from '../src/rules/personalisation.ts';
import { connectService } from '../src/service/registry.ts';
import { readInput, say, writeResult } from './child.ts';
import type { ProgramInput, ProgramResult } from './settings.ts';

/**
 * As the other script, for a service that reports each recipient of a batch: the same client, everything in memory. It asks about each open
 * batch as often as Carillon does, and reads each record when its call is over.
 */
const { settings, campaignPath, sandboxUrl } = readInput() as ProgramInput;
const service = connectService({
  baseUrl: sandboxUrl,
  apiKey: process.env['SVC_API_KEY'] ?? '',
  api: settings.api,
  readsPerSecond: settings.readsPerSecond,
});
const reportEverySeconds = 15;

const file = await readCampaignFile(campaignPath);
const header = await readHeader(file);
const rules = campaignRules(file, header.columns, Date.now());
const templates = compileTemplates(rules);
const waiting: { to: string; firstMessage: string | null; variables: Record<string, string> }[] = [];
for await (const rows of readRecipients(file, header, rules)) {
  for (const row of rows) {
    const rendered = row.verdict === 'rejected' ? null : templates.render(recipientFields(rules.list.columns, row.cells));
    if (rendered?.ok !== true || row.e164 === null) continue;
    waiting.push({ to: row.e164, firstMessage: rendered.firstMessage, variables: rendered.variables ?? {} });
  }
}
const total = waiting.length;
const results = new Map<string, unknown>();
const over = new Set<string>();
const open = new Map<string, { left: number; askedAt: number }>();
let placed = 0;
let batches = 0;

async function dial(): Promise<void> {
  for (;;) {
    const free = settings.openCalls - (placed - over.size);
    if (waiting.length === 0 || free < Math.min(settings.refillThreshold, waiting.length)) return;
    const people = waiting.splice(0, Math.min(free, settings.batchSize));
    batches += 1;
    const request = {
      mark: `script-${batches}`,
      title: 'script',
      agentId: rules.agentId,
      callerId: rules.callers.numbers[0] ?? '',
      variablesKey: null,
      concurrency: people.length,
      calls: people.map(({ to, firstMessage, variables }, index) => ({
        ref: `${batches}/${index}`,
        to,
        override: withOpeningLine(null, firstMessage),
        variables,
      })),
    };
    const placing = await service.place(request, { requestId: request.mark, mayBegin: () => true });
    if (placing.kind !== 'accepted') throw new Error(placing.fault);
    open.set(placing.serviceBatchId, { left: people.length, askedAt: -Infinity });
    placed += people.length;
  }
}

const serviceSeconds = () => (performance.now() / 1000) * settings.speed;

async function look(): Promise<void> {
  const due = [...open].filter(([, { askedAt }]) => serviceSeconds() >= askedAt + reportEverySeconds).values();
  const work = async () => {
    for (const [id, batch] of due) {
      batch.askedAt = serviceSeconds();
      for (const { ref, state, conversationId } of (await service.report?.(id)) ?? []) {
        const name = `${id} ${ref}`;
        if (state !== 'over' || conversationId === null || results.has(name)) continue;
        over.add(name);
        const { facts } = await service.record(conversationId);
        if (facts.status !== 'done' && facts.status !== 'failed') continue;
        results.set(name, facts);
        batch.left -= 1;
      }
      if (batch.left === 0) open.delete(id);
    }
  };
  await Promise.all(Array.from({ length: settings.readsAtOnce }, work));
}

const begun = performance.now();
const cpuBefore = process.cpuUsage();
let saidAt = begun;
for (;;) {
  await dial();
  await sleep((settings.pollSeconds * 1000) / settings.speed);
  await look();
  if (results.size === total) break;
  if (performance.now() - saidAt < 15_000) continue;
  saidAt = performance.now();
  say(`  script: ${results.size} of ${total} done, ${placed - over.size} calls open`);
}
const cpu = process.cpuUsage(cpuBefore);
const result: ProgramResult = { wallMs: performance.now() - begun, cpuMs: (cpu.user + cpu.system) / 1000 };
await service.close();
writeResult(result);
