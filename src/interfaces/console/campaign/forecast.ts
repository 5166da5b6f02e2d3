import { percent } from '../../../shared/input/figures.ts';
import type { ConsoleForecast } from '../../../operations/control/aside/forecast.ts';

export function assumptionsText({ ends }: ConsoleForecast): string | null {
  if (ends === null) return null;
  const { answerRate, callMs } = ends.assumptions;
  return (
    `Earliest: everyone answers the next call. Likely: ${percent(answerRate)} answer and talk ${Math.round(callMs / 1000)} s. ` +
    'At worst: nobody answers, and every delay is the longest. Pauses, other campaigns and the service may slow it down.'
  );
}
