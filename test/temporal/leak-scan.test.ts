import { expect, test } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import { findTokens, textOf, textOfWorkflow } from '../support/leak-scan.ts';
import { plantList } from '../support/planted-list.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';

const temporal = useSharedTemporal();

test('the scan finds what is planted in a payload, a failure or a reason that Temporal keeps', async () => {
  const { tokens } = plantList(1102, 20);
  const [inPayload, inReason, inMemo, nowhere] = tokens as [string, string, string, string];
  const handle = await temporal.client.workflow.start('planted', {
    taskQueue: 'nobody',
    workflowId: 'planted',
    args: [{ deep: { inside: [`before ${inPayload} after`] } }],
    memo: { note: Buffer.from(inMemo).toString('base64') },
  });
  await handle.terminate(`because of ${inReason}`);
  const text = await textOfWorkflow(temporal.client, 'planted');
  expect(findTokens(text, [inPayload, inReason, inMemo, nowhere])).toEqual([inPayload, inReason, inMemo]);
});

test('the scan finds what is planted in an error, an address or a log line, and the log censors what it knows', () => {
  const [inError, inCause, inLine, censored] = plantList(1103, 20).tokens as [string, string, string, string];
  expect(findTokens(textOf(new Error(inError, { cause: { url: `/x?y=${inCause}` } })), [inError, inCause])).toEqual([inError, inCause]);
  const lines: string[] = [];
  const logger = createLogger('trace', { write: (line) => void lines.push(line) });
  logger.trace({ note: inLine, call: { e164: censored } }, 'a line');
  expect(findTokens(lines.join(''), [inLine, censored])).toEqual([inLine]);
});
