# shellcheck shell=sh
# Common functions of the stories with a server, after common.sh: server.test is this machine at another address, with
# git over https and with ssh.

# server: starts it. A CA of this machine has signed its certificate. alice's password for git is push-password.
server() {
  echo "127.0.0.1 localhost
127.0.0.7 server.test" >/etc/hosts
  mkdir -p /srv/git /tmp/ca /run/sshd
  (
    cd /tmp/ca
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=A CA of the story" -keyout ca.key -out ca.crt \
      -addext basicConstraints=critical,CA:TRUE
    openssl req -newkey rsa:2048 -nodes -subj "/CN=server.test" -keyout server.key -out server.csr
    echo "subjectAltName=DNS:server.test" >server.ext
    openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext -out server.crt
    cat server.key server.crt >/etc/lighttpd/server.pem
    cp ca.crt /usr/local/share/ca-certificates/story.crt
    update-ca-certificates
  ) >/tmp/ca/log 2>&1 || fail "no CA: $(cat /tmp/ca/log)"
  echo "alice:push-password" >/etc/lighttpd/users
  cat >/etc/lighttpd/lighttpd.conf <<'END'
server.modules = ("mod_auth", "mod_authn_file", "mod_alias", "mod_setenv", "mod_cgi", "mod_openssl")
server.document-root = "/srv/git"
server.username = "www-data"
server.groupname = "www-data"
server.bind = "127.0.0.7"
server.port = 443
ssl.engine = "enable"
ssl.pemfile = "/etc/lighttpd/server.pem"
auth.backend = "plain"
auth.backend.plain.userfile = "/etc/lighttpd/users"
auth.require = ("/git" => ("method" => "basic", "realm" => "git", "require" => "valid-user"))
alias.url = ("/git" => "/usr/lib/git-core/git-http-backend")
cgi.assign = ("" => "")
setenv.add-environment = ("GIT_PROJECT_ROOT" => "/srv/git", "GIT_HTTP_EXPORT_ALL" => "1")
END
  git init -q --bare /srv/git/tree.git
  chown -R www-data:www-data /srv/git
  systemctl restart lighttpd
  echo "ListenAddress 127.0.0.7" >/etc/ssh/sshd_config.d/story.conf
  systemctl restart ssh
}
