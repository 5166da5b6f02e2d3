import { seedFactor } from '../support/depth.ts';
import { testWorlds } from './worlds-suite.ts';

testWorlds(301, 300 + 10 * seedFactor, 'postgres');
