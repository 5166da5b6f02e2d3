import { cannotFinishLine } from '../../words/forecast.ts';
import type { CheckResult } from './check.ts';

/** What a check comes to, in a sentence or two. */
export function verdictText({ report, obstacle }: Pick<CheckResult, 'report' | 'obstacle'>): string {
  if (obstacle !== null) return `Cannot start: ${obstacle}.`;
  const { accepted, rejected, forecast, service } = report;
  if (accepted === 0) return 'Cannot start: no row can be dialled.';
  if (forecast === null) return 'Nobody would be called: all accepted rows are left out above.';
  if (service.asked && service.refusal !== null) return 'Cannot start: the service would refuse its calls.';
  if (!forecast.canFinish) return cannotFinishLine(forecast);
  const kept = rejected === 0 ? '' : ' Rejected rows do not stop it: they are kept and reported.';
  return `Ready to start. No call was placed.${kept}`;
}
