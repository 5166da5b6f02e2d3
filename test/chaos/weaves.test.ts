import { isFull } from '../support/depth.ts';
import { testWeaves } from './test-weaves.ts';

testWeaves('sqlite', isFull ? { every: 8, everyScenario: 1, seeds: 10 } : { every: 13, everyScenario: 2, seeds: 5 });
