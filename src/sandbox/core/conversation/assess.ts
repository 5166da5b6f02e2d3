import type { PlatformSettings } from '../../schemas/agent-schemas.ts';
import { collect } from './collect.ts';
import { evaluate } from './evaluate.ts';
import type { Talk } from '../state/talk.ts';
import type { Assessment } from '../state/assessment.ts';

/** Evaluates and collects by rules alone: the same words give the same result, whoever made them up. */
export function assess(platform: PlatformSettings, { turns, ...rest }: Talk): Assessment {
  const talk = { ...rest, turns: turns.filter(({ aside }) => aside !== true) };
  if (talk.turns.length === 0 || talk.brokeDown) return { collected: {}, evaluation: {} };
  const items = platform.data_collection ?? {};
  const collected = collect(items, talk.turns);
  const criteria = platform.evaluation?.criteria ?? [];
  return {
    collected,
    evaluation: Object.fromEntries(
      criteria.map((criterion) => [criterion.id, evaluate(criterion, { talk, items, collected })]),
    ),
  };
}
