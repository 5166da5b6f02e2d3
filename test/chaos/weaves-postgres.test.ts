import { isFull } from '../support/depth.ts';
import { testWeaves } from './test-weaves.ts';

testWeaves('postgres', isFull ? { every: 10, everyScenario: 1, seeds: 4 } : { every: 26, everyScenario: 11, seeds: 2 });
