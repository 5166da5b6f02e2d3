import { setTimeout as sleep } from 'node:timers/promises';
import { campaignRules, readCampaignFile } from '../src/campaign/file/file.ts';
import { readHeader } from '../src/campaign/file/columns-of-rules.ts';
import { readRecipients } from '../src/list/recipients.ts';
import { createConvaiClient, type ConvaiClient } from '../src/service/convai/client.ts';
import { factsFromListEntry, factsFromRecord } from '../src/service/convai/record-facts.ts';
import { readRecord } from '../src/rules/correlation/record.ts';
import { compileTemplates } from '../src/rules/personalisation.ts';
import { recipientFields } from '../src/rules/columns.ts';
import { readInput, say, writeResult } from './child.ts';
import type { ProgramInput, ProgramResult } from './settings.ts';

/**
 * What a person would write in an afternoon: the same client, the same limits, everything in memory. It survives nothing, trusts every
 * answer, and takes every record of the agent for one of its own. A slot is free as soon as the list shows a call to be over.
 */
const { settings, campaignPath, sandboxUrl } = readInput() as ProgramInput;
const client: ConvaiClient = createConvaiClient({
  baseUrl: sandboxUrl,
  apiKey: process.env['SVC_API_KEY'] ?? '',
  readsPerSecond: settings.readsPerSecond,
});

const file = await readCampaignFile(campaignPath);
const header = await readHeader(file);
const rules = campaignRules(file, header.columns, Date.now());
const templates = compileTemplates(rules);
const waiting: { number: string; firstMessage: string | null; variables: Record<string, string> }[] = [];
for await (const rows of readRecipients(file, header, rules)) {
  for (const row of rows) {
    if (row.verdict === 'rejected') continue;
    const rendered = templates.render(recipientFields(rules.list.columns, row.cells));
    if (!rendered.ok) continue;
    waiting.push({ number: row.e164, firstMessage: rendered.firstMessage, variables: rendered.variables ?? {} });
  }
}
const total = waiting.length;
const over = new Set<string>();
const results = new Map<string, unknown>();
let placed = 0;
let batches = 0;

async function dial(): Promise<void> {
  for (;;) {
    const free = settings.openCalls - (placed - over.size);
    if (waiting.length === 0 || free < Math.min(settings.refillThreshold, waiting.length)) return;
    const batch = waiting.splice(0, Math.min(free, settings.batchSize));
    batches += 1;
    const calls = batch.map(({ number, firstMessage, variables }) => ({
      to_phone_number: number,
      ...(firstMessage === null ? {} : { conversation_config_override: { agent: { first_message: firstMessage } } }),
      variables,
    }));
    const { callsInitiated } = await client.placeBatchCalls(
      { agent_id: rules.agentId, from_phone_number_id: rules.callers.numbers[0] ?? '', calls },
      { requestId: `script-${batches}`, mayBegin: () => true },
    );
    placed += callsInitiated;
  }
}

/** Reads the list, newest first, until every call without its result was seen. Answers the ids of those to fetch. */
async function look(): Promise<string[]> {
  const due: string[] = [];
  let missing = placed - results.size;
  for (let cursor: string | null = null; ;) {
    const page = await client.listConversationsPage({
      agentId: rules.agentId,
      pageSize: settings.pageSize,
      ...(cursor === null ? {} : { cursor }),
    });
    for (const entry of page.conversations) {
      const facts = factsFromListEntry(entry);
      if (results.has(facts.conversationId)) continue;
      missing -= 1;
      if (readRecord(facts).over) over.add(facts.conversationId);
      // A list that shows no status leaves only to read each record, again and again, until it tells.
      if (facts.status === null || facts.status === 'done' || facts.status === 'failed') due.push(facts.conversationId);
    }
    cursor = page.nextCursor;
    if (missing <= 0 || cursor === null) return due;
  }
}

async function fetchResults(ids: readonly string[]): Promise<void> {
  const queue = ids.values();
  const work = async () => {
    for (const id of queue) {
      const facts = factsFromRecord(await client.getConversation(id));
      const { over: isOver } = readRecord(facts);
      if (isOver) over.add(id);
      if (facts.status !== null || (facts.collected !== null && isOver)) results.set(id, facts);
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
  const due = await look();
  await Promise.all([dial(), fetchResults(due)]);
  if (results.size === total) break;
  if (performance.now() - saidAt < 15_000) continue;
  saidAt = performance.now();
  say(`  script: ${results.size} of ${total} done, ${placed - over.size} calls open`);
}
const cpu = process.cpuUsage(cpuBefore);
const result: ProgramResult = { wallMs: performance.now() - begun, cpuMs: (cpu.user + cpu.system) / 1000 };
await client.close();
writeResult(result);
