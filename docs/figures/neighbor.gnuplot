# Draws docs/figures/neighbor.svg from the tables in docs/lab:
# gnuplot docs/figures/neighbor.gnuplot (in the project's root).
set terminal svg size 880,360 dynamic font "sans-serif,13" background "white"
set output "docs/figures/neighbor.svg"
set datafile separator "|"
# The first table of a page whose rows begin with a number; a cell is "1.57 (1.53-1.63)" or "**0.99 (0.98-1.02)**".
table(page) = "< awk '/^\\| *[0-9]+ \\|/ { found = 1; print; next } found { exit }' docs/lab/" . page
ratio(cell) = (first = word(cell, 1), first[1:2] eq "**" ? real(first[3:*]) : real(first))
set logscale x 2
set xrange [6:3e6]
set yrange [0.5:2.4]
set xtics ("8 B" 8, "128 B" 128, "2 KiB" 2048, "32 KiB" 32768, "512 KiB" 524288)
set grid ytics lc rgb "#dddddd"
set xlabel "bytes for each neighbour"
set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb "#888888" dt 2
set key top right
set multiplot layout 1,2
set title "Two ranks of one node"
set ylabel "time of the fastest other / time of fab"
plot table("within-a-node.md") using 2:(ratio(strcol(5))) with linespoints pt 7 ps 0.6 lw 2 lc rgb "#1b6ca8" title "blocking", \
     "" using 2:(ratio(strcol(9))) with linespoints pt 5 ps 0.6 lw 2 lc rgb "#d1703c" title "non-blocking", \
     "" using 2:(ratio(strcol(14))) with linespoints pt 9 ps 0.6 lw 2 lc rgb "#3d8b4f" title "persistent"
set title "Two ranks over TCP"
unset ylabel
plot table("tcp.md") using 2:(ratio(strcol(5))) with linespoints pt 7 ps 0.6 lw 2 lc rgb "#1b6ca8" title "blocking", \
     "" using 2:(ratio(strcol(9))) with linespoints pt 5 ps 0.6 lw 2 lc rgb "#d1703c" title "non-blocking", \
     "" using 2:(ratio(strcol(14))) with linespoints pt 9 ps 0.6 lw 2 lc rgb "#3d8b4f" title "persistent"
unset multiplot
