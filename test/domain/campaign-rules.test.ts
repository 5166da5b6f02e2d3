import { expect, test } from 'vitest';
import { readRules } from '../../src/domain/campaign-rules.ts';
import { buildRules } from '../support/campaign-rules.ts';

test('rules that are stored are read once and shared, and whoever has them cannot change them for the others', () => {
  const text = JSON.stringify(buildRules());
  const rules = readRules(text);
  expect(readRules(text)).toBe(rules);
  expect(() => (rules.pacing.batchSize = 1_000)).toThrow(TypeError);
  expect(() => rules.optOut.push({ source: 'collected', key: 'stop', values: [true] })).toThrow(TypeError);
  const changed = JSON.stringify({ ...buildRules(), agentId: 'agent_other' });
  expect(readRules(changed).agentId).toBe('agent_other');
});

test('rules of more campaigns than are kept are read all the same', () => {
  const texts = Array.from({ length: 250 }, (_, n) => JSON.stringify({ ...buildRules(), agentId: `agent_${n}` }));
  for (const round of [1, 2])
    for (const [n, text] of texts.entries()) expect(readRules(text).agentId, `round ${round}`).toBe(`agent_${n}`);
});
