import { seedFactor } from '../support/depth.ts';
import { testWorlds } from './worlds-suite.ts';

testWorlds(1, 50 * seedFactor, 'sqlite');
