import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import { buildRows, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { answered, beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import type { dialects } from '../test-stores.ts';

/** Whom `threeInDoubt` calls. */
export const three = numbers(3);
const optOut = [{ source: 'collected' as const, key: 'do_not_call', values: [true] }];

/** Its record shows the words of all three, and nobody's number. */
export function talk(conversationId: string, more: Partial<ConversationFacts> = {}): Partial<ConversationFacts> {
  const record = { ...answered(conversationId, '', noon + 5_000), calleeNumber: null, callResult: null };
  return { ...record, openingLine: 'Hello Guest', ...more };
}

/** Three people called at once with the same words; nobody can ascribe the two records. */
export async function threeInDoubt(dialect: (typeof dialects)[number], records = [talk('conv_a'), talk('conv_b')]): Promise<Scenario> {
  const store = await openCleanStore(dialect);
  const rules = { sharedWords: 'unresolved' as const, optOut };
  const spring = await beginProven(store, { rows: buildRows(three, () => 'Guest'), rules });
  await spring.dial(1);
  await spring.sweep(noon + minuteMs, records);
  for (let now = noon + 2 * minuteMs; now <= noon + 30 * minuteMs; now += 2 * minuteMs) await spring.sweep(now);
  return spring;
}
